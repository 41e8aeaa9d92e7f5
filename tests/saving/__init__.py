"""The verbs for agents."""
