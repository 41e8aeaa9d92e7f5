"""Compiles context packs."""
