"""One suite for every door into the package: the same tables must give the same answers, and the same refusals.

- `tables` says how a table is described, `zoo` has the tables: one function each; `zoo_of_text` those of text,
  `zoo_of_levels` those of many levels, `zoo_of_rows` those that single rows decide, `zoo_of_vectors` those with
  vectors.
- `holding` says how libraries hold a table; `doors` has every way into the package, and what it cannot do yet, with the
  words in which it refuses that: one entry each.
- `answers` has what comes out, as plain dicts, and how far two of them may lie apart.
- `thresholds` has every size from which the package computes in another way, with a lower one; `lowering` applies it.
- `test_same_answer`, `test_same_refusals` and `test_thresholds` compare all doors with the first, a frame of pandas.
  Doors that differ from another in how they read alone take a third of the tables that are not about reading, and all
  of them where RENYI_CONTRACTS is "all", as in `make test-all`.
- `mutations` is a program: it makes deliberate mistakes, and says whether the suite notices.

The door of Spark needs PySpark and Java, and has a part of the zoo. Doors on a GPU are there where torch sees one, and
on devices that RENYI_DEVICES names.
"""
