"""What an entry is, and a wing."""
