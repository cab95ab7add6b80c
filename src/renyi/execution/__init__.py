"""Where work runs. Nothing here knows any statistics."""
