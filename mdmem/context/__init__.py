"""A goal and an intent to a context pack: what matters for the work at hand, in facets."""
