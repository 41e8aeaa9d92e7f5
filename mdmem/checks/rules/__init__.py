"""One file a check, its name the code; `loaded` holds those that only hand on what loading found."""
