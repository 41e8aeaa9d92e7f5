"""What a change does to what is believed: not which lines differ, but what held before and what holds after."""
