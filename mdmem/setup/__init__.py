"""Set up a memory, git's hooks and merge driver, and the clients that run agents.

This is done once for a repository.
"""
