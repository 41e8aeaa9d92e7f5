"""The full-text index: `protocol` says what it offers, `fulltext` does it.

A text becomes terms in `analysis`, `english` and `terms`, a question leaves in `scoring` or, as query language, in
`syntax`. `scoring` ranks; the postings come from `postings`, of memory or of `segments` on disk, and from `overlay` for
what the disk holds in another state. `finder` and `snippet` show where a text holds the words.
`refresh` brings the disk up to date: `writer` writes a generation, `store` keeps them, `manifest` says which one holds.
"""
