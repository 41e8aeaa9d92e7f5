"""What happens in an agent's client, and what it is told at that moment."""
