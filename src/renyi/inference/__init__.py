"""Canonical correlations, ranks and n to what may be said of them."""
