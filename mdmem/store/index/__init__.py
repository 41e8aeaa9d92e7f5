"""The full-text index, built on Whoosh.

`fulltext` keeps the index up to date, searches it and ranks the matches. `analysis` turns texts into search terms, and
cuts the text around a match. `query` turns questions into Whoosh queries. `schema` defines the fields, `storage` the
files, and `records` the documents, answers and errors.
"""
