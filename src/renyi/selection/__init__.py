"""Forward selection of the columns that a target depends on: candidates, what each would add, the search.

Serves `renyi.sklearn`. Must not import `tables`.
"""
