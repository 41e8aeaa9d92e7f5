"""The organisation's copy of many memories, on PostgreSQL: what it holds can be dropped and pushed again.

`connection` is the one door to the server, `schema` makes its tables.
"""
