"""Local state and caches of a root: where their folders are, and how files are read and written safely."""
