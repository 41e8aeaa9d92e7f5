"""Scope and question to current entries in order, each with its reason."""
