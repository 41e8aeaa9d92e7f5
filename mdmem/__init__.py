"""Typed, scoped, reviewed memory for coding agents and their teams, as Markdown files in git."""

__version__ = "0.2.0"
# The file that makes a folder the root of a memory.
SETTINGS_NAME = "mdmem.toml"
# The markers around exported text, which is a copy of entries.
EXPORT_BEGIN = "<!-- mdmem export"
EXPORT_END = "<!-- mdmem export end -->"
