"""Rows that come in batches: counts of every column in a first pass, sums of products in a second."""
