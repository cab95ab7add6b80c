"""The other measures of dependence behind one protocol, from Pearson's correlation to mutual information.

Each prepares a column once and combines pairs cheaply. Knows pairs, and no tables: `tables` compares columns by them.
"""
