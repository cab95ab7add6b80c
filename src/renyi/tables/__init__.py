"""Whole tables: `matrix`, `screen`, `pairs`, `Accumulator`, and the results that users hold.

Chooses where the rows are (memory, batches, device) and by which measure columns are compared. Must not import
`selection`.
"""
