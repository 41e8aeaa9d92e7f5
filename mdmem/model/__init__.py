"""Define entries, the fields of their front matter, and their lineage (which entry supersedes which)."""
