"""Set up a memory, git's hooks and merge driver, and the clients that run agents, once for a repository."""
