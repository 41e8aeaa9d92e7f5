"""The full-text index: `protocol` says what it offers, `whoosh_index` does it, and nothing else here is for other packages but `analysis` and `snippet`."""
