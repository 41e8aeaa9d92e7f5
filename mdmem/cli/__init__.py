"""Define the commands: each reads its arguments, calls one feature, and prints what `render` returns."""
