"""What `mdmem check` prints: one file a format, and the table of them in `formats`."""
