"""Bytes to front matter and body: strict, with line and column."""
