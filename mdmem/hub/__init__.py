"""The organisation's copy of many memories, on PostgreSQL: what it holds can be dropped and pushed again.

The server: `connection` is the one door to it, `schema` makes its tables, `permissions` says who sees what.

Sending: `push` asks `repositories` which is meant and `succession` what may follow what, takes the `contents` of a
commit, and has `transfer` make the `rows` of its `wings` those; `verify` and `status` tell what is there.

Asking: `reader` reads rows; `repository_copy` is one repository as a workspace, `union` entries of many; `across` puts
a question to all, `candidates` may answer it, `text` ranks them; `origins` says where a wing comes from, `owners` who
answers for an entry; `kept_copies` is what a server keeps between questions.
"""
