"""Results as HTML: a page that holds all it needs, and what a notebook shows."""
