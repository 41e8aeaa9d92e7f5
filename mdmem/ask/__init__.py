"""Answer questions: select entries, rank them, relate them to others, and fit them into a budget."""
