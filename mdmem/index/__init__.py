"""The full-text index: `protocol` says what it offers, `whoosh_index` does it."""
