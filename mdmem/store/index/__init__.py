"""The full-text index, on Whoosh: `protocol` is its interface, `fulltext` the engine.

`analysis` turns texts into terms, `query` turns questions into Whoosh's queries, `scores` ranks, `schema` has the
fields, and `storage` the files. `finder` and `snippet` show where a text has the terms of a question.
"""
