"""Parses, patches and shortens Markdown entries."""
