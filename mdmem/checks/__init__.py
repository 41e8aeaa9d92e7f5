"""One file a check; `registry` lists them, `engine` runs them."""
