"""Import the records of other tools as entries, and export entries in the formats that other tools read."""
