"""Compares, reviews, merges and maintains memories."""
