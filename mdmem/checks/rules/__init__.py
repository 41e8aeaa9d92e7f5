"""One module per theme; a check is a decorated generator, and users read its docstring with `--explain`."""
