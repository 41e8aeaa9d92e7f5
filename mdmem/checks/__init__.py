"""Checks by theme in `rules`; `registry` lists them, `engine` runs them."""
