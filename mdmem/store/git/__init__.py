"""Run git: find repositories, read and write files, commits and history; one process serves many files."""
