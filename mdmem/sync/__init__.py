"""How a memory is brought together with what others pushed: what to do, what stops it, how long to wait."""
