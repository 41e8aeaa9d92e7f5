"""The full-text index: `protocol` says what it offers, `fulltext` does it.

A text becomes terms in `analysis` and `terms`, a question leaves in `scoring` or, as query language, in `syntax`.
`scoring` ranks; the postings come from `postings`, of memory or of `segments` on disk.
`refresh` brings the disk up to date: `writer` writes a generation, `store` keeps them, `manifest` says which one holds.
"""
