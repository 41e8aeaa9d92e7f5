"""Reads memories: files, git, the catalog, the index, settings and local state."""
