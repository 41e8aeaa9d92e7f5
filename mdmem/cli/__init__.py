"""One file a command: arguments, one call on the workspace, print what `render` returns."""
