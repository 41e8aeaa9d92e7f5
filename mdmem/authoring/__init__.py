"""The only writer of entries."""
