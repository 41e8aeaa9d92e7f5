"""What git cannot merge by itself: the merge driver, and deciding what it left open."""
