"""The full-text index, on Whoosh: `fulltext` is the engine, `records` its documents, answers and errors.

`analysis` turns texts into terms, `query` turns questions into Whoosh's queries, and `scores` ranks, `schema` has the
fields, and `storage` the files. `snippet` shows where a text has the terms of a question.
"""
