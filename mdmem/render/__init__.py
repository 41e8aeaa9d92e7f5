"""Render results as text, Markdown and JSON values; nothing here prints."""
