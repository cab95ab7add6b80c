"""One pair: `rdc`, `transformations`, `independence_test`, `conditional_test`, and their results.

Knows nothing of tables; tables take the way of a single pair where a batch cannot answer.
"""
