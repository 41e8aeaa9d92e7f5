"""Plans, proves and writes changes of entries."""
