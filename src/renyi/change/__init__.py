"""Two tables → what changed between them: the distributions of columns, and the dependences of pairs.

It reads both tables into common columns, asks `tables` for each of them, and compares functions of the columns from
sums over rows. It may not know how results are shown.
"""
