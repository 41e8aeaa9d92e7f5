"""The command line: each command as people and programs call it."""
