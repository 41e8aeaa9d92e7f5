"""Typed, scoped, reviewed memory for coding agents and their teams, as Markdown files in git."""

__version__ = "0.1.0"
