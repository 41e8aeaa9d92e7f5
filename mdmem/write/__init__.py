"""Plan, check and write changes of entries."""
