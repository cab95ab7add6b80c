"""Many columns to what is found on all of their pairs, by the RDC: stacks of functions, sums of products, `Edges`.

Rows in memory, in batches (`streaming`) and on a torch device (`device`) become the same sums, which are compared in
one way. Knows single pairs, and neither files nor results nor other measures.
"""
