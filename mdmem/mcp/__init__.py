"""Offer the features as tools of the Model Context Protocol; no other package uses its SDK."""
