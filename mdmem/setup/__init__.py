"""What is set up once: a memory, git's hooks and its merge driver, and the clients of agents."""
