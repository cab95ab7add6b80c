"""A campaign of made-up calls of everything that is public, good ones and bad ones: `make fuzz N=30000 SEED=7`.

- `cells` makes values of one column, `holders` puts them into containers, columns as well as tables, `settings` has
  values for every argument, `files` writes tables, many of them damaged.
- `calls` makes one call for every public name, `orders` sequences of calls (accumulators, estimators, results),
  `lines` command lines, `invariants` calls whose answers must agree with one another.
- `judging` says whether what came of a call is allowed; `__main__` makes the calls, each in a process that may die.

A call depends on its seed and number alone: `python -m tests.fuzz --seed 7 --only 1234` repeats it, with its arguments
and the traceback.
"""
