"""Anything a user has to a table of typed columns with missing masks: the only room that reads and checks data.

Columns leave here as `Column`, tables as `Table`. Knows `compute`, and nothing of what is measured on them.
"""
