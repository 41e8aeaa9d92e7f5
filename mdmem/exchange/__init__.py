"""Entries in from other tools' records, and out to them."""
