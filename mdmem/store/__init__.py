"""Read memories: files, git, the catalog of entries, the full-text index, settings and local state."""
