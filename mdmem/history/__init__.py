"""What git says of entries: their commits, and why one binds."""
