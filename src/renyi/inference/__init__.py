"""Products of bases to p-values, debiased coefficients and false discovery rates.

Null distributions by theory and by permutation, for one pair and over arrays of pairs. Knows bases and numbers, and no
tables.
"""
