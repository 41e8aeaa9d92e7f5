"""One module for each theme; a check is a decorated generator, its docstring the explanation that people read."""
