"""A column to centred orthonormal functions of its ranks, and two bases to their canonical correlations.

Ranks, random features, smooth cosines and indicators of levels end as a `Basis`; from there on nothing knows where a
column came from. Knows columns, and no p-values.
"""
