"""Results as figures by Matplotlib: transformations, heatmaps, the path of a selection."""
