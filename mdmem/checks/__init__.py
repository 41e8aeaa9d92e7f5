"""The checks: `rules` has one module per theme, `check` lists all checks, `engine` and `run` run them."""
