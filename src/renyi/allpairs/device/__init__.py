"""Rows that lie on a torch device: ranked there, multiplied there, compared a tile at a time."""
