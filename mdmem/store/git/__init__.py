"""Every git process of mdmem starts here; one process serves many files."""
