"""Findings, entries and packs to text, Markdown and JSON; everything here returns strings."""
