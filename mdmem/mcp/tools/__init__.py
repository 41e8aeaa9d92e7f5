"""The tools, by profile."""
