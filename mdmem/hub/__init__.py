"""The organisation's copy of many memories on PostgreSQL. It can be dropped at any time and pushed again.

`connection` opens the server and keeps its tables up to date (`migrations`); `grants` says who sees what.

Sending: `contents` reads a commit, `push` makes the rows of a repository those of that commit, `repositories` finds the
repository, `verify` compares and reports.

Asking: `search` finds entries of all repositories, their owners and dependents. What is binding in a repository is
asked of its copy, which `copy` opens as one more tree.
"""
