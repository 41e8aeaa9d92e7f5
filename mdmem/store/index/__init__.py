"""The full-text index, built on Whoosh.

`fulltext` keeps the index up to date and searches it. `analysis` turns texts into search terms, `query` turns questions
into Whoosh queries, and `scores` ranks the matches. `schema` defines the fields, `storage` the files, and `records` the
documents, answers and errors. `snippet` cuts the text around a match.
"""
