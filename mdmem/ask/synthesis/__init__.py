"""Plans outlines with sources."""
