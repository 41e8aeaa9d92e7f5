"""Defines what an entry is, its fields and its lineage."""
