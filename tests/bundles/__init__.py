"""The reading verbs of the contracts."""
