"""Results as text: in a terminal, for a single pair, and in plain sentences."""
