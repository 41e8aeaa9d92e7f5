"""One file a command: arguments, one call of a feature, print what `render` returns."""
