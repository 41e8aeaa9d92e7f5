"""The hub: an organisation's copy of many memories on PostgreSQL. It can be deleted at any time and pushed again.

`connection` connects to the server and keeps its tables up to date (`migrations`). `repositories` finds a repository,
and says who sees what.

To send: `contents` reads a commit, and `push` updates or verifies the rows of a repository.

To ask: `search` finds entries in all repositories, with their owners and dependents. `copy` opens the hub's copy of one
repository as a memory, to ask which rules apply there.
"""
