"""Fixes of findings, as edits and renames: data that `write` proves and applies."""
