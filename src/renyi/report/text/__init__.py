"""Results as text: in a terminal, and for a single pair."""
