"""What `mdmem diff` prints: the parts of a review as lines, and one file a format."""
