"""Every size from which the package computes in another way, and a lower one, so that small tables cross it.

A threshold is a constant of a module that is read when it is needed: neither a number in the middle of a function, nor
a default argument, nor a name imported from elsewhere. This is the one file that knows where they are.
"""

import numpy as np

from contracts.lowering import Threshold, as_if_large

_AS_THEY_COME = {f"renyi.allpairs.streaming.rank_sketch:{name}": 0 for name in ("_WAITING", "_FIRST_WAITING")}

_GAPS_IN_TILES = {"renyi.allpairs.few_rows:MOST_ROWS": 0}

THRESHOLDS = (
    # Reading.
    Threshold("a file is read in batches", as_if_large(90, 9000), "csv at once", "complete"),
    Threshold(
        "batches that end soon stay batches",
        as_if_large(90, 9000),
        "list of polars at once",
        "complete",
        seen_in="renyi.data.files.streams",
    ),
    Threshold("an array is turned some rows at a time", {"renyi.data.table:_ROWS_AT_ONCE": 7}, "array", "complete"),
    Threshold("a column that begins with equal values", {"renyi.data.types:_FIRST_ROWS": 1}, "pandas", "zero_inflated"),
    Threshold(
        "many cells of text are counted by what they spell",
        {"renyi.allpairs.streaming.text_counts:MOST_LEVELS": 50},
        "accumulators",
        "dates_as_text",
        alone=True,
    ),
    Threshold(
        "rows of what text spells are counted in parts",
        {"renyi.allpairs.streaming.text_counts:_ROWS_AT_ONCE": 64},
        "accumulators",
        "numbers_and_words",
    ),
    # Ranking.
    Threshold("columns are sorted by radix", {"renyi.compute.sorting:_SHORT_COLUMN": 8}, "pandas", "gaps"),
    Threshold(
        "long columns are sorted in runs",
        {
            "renyi.compute.sorting:_SHORT_COLUMN": 8,
            "renyi.compute.sorting:_LONG_COLUMN": 32,
            "renyi.compute.sorting:_RUN": 16,
            "renyi.compute.sorting:_SAMPLE": 8,
        },
        "pandas",
        "gaps",
    ),
    Threshold("coordinates are ranked in blocks", {"renyi.basis.ranks:_TURNED": 1}, "pandas", "vectors"),
    Threshold("ranks are put into cells", {"renyi.basis.basis:_GRID_CELLS": 16}, "pandas", "dozen", moves=True),
    Threshold(
        "features of vectors are made in chunks",
        {"renyi.basis.basis:_CHUNK_BYTES": 2**10},
        "pandas",
        "vectors",
        moves=False,
    ),
    Threshold(
        "vectors have Fastfood features",
        {"renyi.basis.random_features:_LARGEST_DENSE": 1},
        "pandas",
        "vectors",
        moves=True,
    ),
    Threshold(
        "factors are taken in blocks of rows",
        {"renyi.basis.orthonormal:_BLOCK_ROWS": 100},
        "pandas",
        "many_levels",
        caches=("renyi.basis.basis:_tie_free_basis",),
    ),
    Threshold(
        "columns are prepared in threads",
        {"renyi.tables.in_memory:_SHORT_COLUMN": 1, "renyi.tables.in_memory:_ROWS_AT_ONCE": 1},
        "pandas",
        "complete",
        seen_in="renyi.compute.threads",
    ),
    Threshold(
        "columns are sorted some at once, in threads",
        {"renyi.tables.in_memory:_ROWS_AT_ONCE": 1},
        "pandas",
        "complete",
        seen_in="renyi.compute.threads",
    ),
    Threshold(
        "products are taken in blocks, and few rows gathered at once",
        {"renyi.allpairs.stack:_MOST_IN_BLOCK": 3, "renyi.allpairs.stack:_ROWS_GATHERED": 7},
        "pandas",
        "dozen",
    ),
    Threshold(
        "columns with gaps are prepared in threads",
        {"renyi.tables.in_memory:_SHORT_WITH_GAPS": 1, "renyi.tables.in_memory:_ROWS_AT_ONCE": 1},
        "pandas",
        "gaps",
        seen_in="renyi.compute.threads",
    ),
    Threshold(
        "two columns are prepared at the same time",
        {"renyi.pair.bases:_ROWS_FOR_THREADS": 1},
        "pair by pair",
        "complete",
    ),
    Threshold(
        "work goes to seven cores",
        {"os:sched_getaffinity": lambda _: set(range(7))},
        "list of pandas",
        "gaps",
        seen_in="renyi.compute.threads",
        alone=True,
    ),
    Threshold(
        "work has one core",
        {"os:sched_getaffinity": lambda _: {0}},
        "list of pandas",
        "gaps",
        seen_in="renyi.compute.threads",
        alone=True,
    ),
    # Products.
    Threshold(
        "columns with gaps are answered some at once",
        {"renyi.allpairs.compare:_COLUMNS_WITH_GAPS": 2, "renyi.allpairs.compare:_ROWS_TO_CUT": 2},
        "pandas",
        "gaps",
        within=_GAPS_IN_TILES,
    ),
    Threshold("tiles of few columns", {"renyi.allpairs.tiles:_MOST_COLUMNS": 5}, "pandas", "dozen"),
    Threshold("tiles of few products", {"renyi.allpairs.tiles:_TILE_PRODUCTS": 2**10}, "pandas", "dozen_with_gaps"),
    Threshold(
        "one tile is shared",
        {"renyi.allpairs.tiles:_FEWEST_TO_SHARE": 2, "renyi.allpairs.tiles:_ROWS_TO_SHARE": 8},
        "pandas",
        "complete",
    ),
    Threshold("rows are multiplied in chunks", {"renyi.allpairs.stack:_CHUNK_ROWS": 17}, "pandas", "dozen"),
    Threshold(
        "products are taken in float32",
        {"renyi.allpairs.stack:ROWS_FOR_FLOAT32": 16, "renyi.allpairs.stack:_CELLS_FOR_FLOAT32": 16},
        "pandas",
        "dozen",
        single=True,
    ),
    Threshold(
        "first functions are added up over the cells of others",
        {
            "renyi.allpairs.stack:ROWS_FOR_FLOAT32": 16,
            "renyi.allpairs.stack:_CELLS_FOR_FLOAT32": 16,
            "renyi.allpairs.stack:_ROWS_PER_CELL": 0,
            "renyi.allpairs.stack:_ROWS_OF_CELLS": 50,
        },
        "pandas",
        "dozen",
        single=True,
    ),
    Threshold(
        "products of many columns are taken in float32",
        {"renyi.allpairs.stack:COLUMNS_FOR_FLOAT32": 4, "renyi.allpairs.stack:_CELLS_FOR_FLOAT32": 16},
        "pandas",
        "dozen",
        single=True,
    ),
    Threshold("few products are taken in float64", {"renyi.allpairs.stack:_FEW_PRODUCTS": 0}, "pandas", "complete"),
    Threshold(
        "products of one pair are taken in chunks", {"renyi.basis.canonical:_CHUNK_ROWS": 17}, "pair by pair", "ties"
    ),
    Threshold(
        "linear coefficients are taken in tiles",
        {"renyi.allpairs.pearson:_MOST_COLUMNS": 5, "renyi.allpairs.pearson:_NUMBERS_AT_ONCE": 2**8},
        "pandas",
        "dozen_with_gaps",
    ),
    Threshold(
        "eigenvalues are found on planes",
        {
            "renyi.compute.eigenvalues:_PAIRS_BY_PLANES": 2,
            "renyi.compute.eigenvalues:_MOST_BY_PLANES": 5,
            "renyi.compute.eigenvalues:_ROOTS_AT_ONCE": 12,
        },
        "pandas",
        "dozen",
    ),
    # Gaps.
    Threshold(
        "functions with gaps are made in chunks",
        {"renyi.allpairs.stack:_CHUNK_BYTES": 2**10, "renyi.allpairs.stack:_FEWEST_CHUNK_ROWS": 7},
        "pandas",
        "dozen_with_gaps",
    ),
    Threshold(
        "means of moments are taken for every tile",
        {"renyi.allpairs.masked_moments:_MOST_BYTES": 0},
        "pandas",
        "gaps",
        within=_GAPS_IN_TILES,
    ),
    Threshold(
        "means of moments are taken of few columns",
        {"renyi.allpairs.masked_moments:_COLUMNS_AT_ONCE": 2},
        "pandas",
        "gaps",
        within=_GAPS_IN_TILES,
    ),
    Threshold(
        "moments do not serve",
        {"renyi.basis.product_moments:_MOST_ENDS": 0},
        "pandas",
        "gaps",
        caches=("renyi.basis.product_moments:moments_of",),
        alone=True,
        within=_GAPS_IN_TILES,
    ),
    Threshold(
        "Gram matrices are looked at",
        {"renyi.allpairs.masked_gram:_NEAR_IDENTITY": 0.0},
        "pandas",
        "gaps",
        within=_GAPS_IN_TILES,
    ),
    Threshold(
        "Gram matrices of few functions are taken over cells",
        {"renyi.allpairs.masked_gram:_DIMENSION_BY_CELLS": 1},
        "pandas",
        "labels_and_gaps",
        within=_GAPS_IN_TILES,
    ),
    Threshold(
        "Gram matrices of tied columns are taken over rows",
        {"renyi.allpairs.masked_gram:_DIMENSION_BY_CELLS": 10**6},
        "pandas",
        "ties_and_gaps",
        alone=True,
        within=_GAPS_IN_TILES,
    ),
    Threshold(
        "pairs are tested by themselves",
        {"renyi.allpairs.common_rows:MOST_MAGNIFIED": {np.float64: 0.0, np.float32: 0.0}},
        "pandas",
        "gaps",
        alone=True,
        within=_GAPS_IN_TILES,
    ),
    Threshold("pairs with gaps on few rows are compared in tiles", _GAPS_IN_TILES, "pandas", "gaps"),
    Threshold(
        "pairs with gaps on few rows are compared few at once",
        {"renyi.allpairs.few_rows:_PAIRS_AT_ONCE": 3, "renyi.allpairs.few_rows:_NUMBERS_AT_ONCE": 2**12},
        "pandas",
        "dozen_with_gaps",
    ),
    Threshold(
        "functions with gaps on few rows are orthonormal by themselves",
        {"renyi.allpairs.common_rows:MOST_MAGNIFIED": {np.float64: 0.0, np.float32: 0.0}},
        "pandas",
        "dozen_with_gaps",
    ),
    # Null distributions and permutations.
    Threshold("many roots are read from tables", {"renyi.inference.roy:MANY_ROOTS": 2}, "pandas", "dozen"),
    Threshold(
        "tables for some numbers of rows",
        {
            "renyi.inference.roy:MANY_ROOTS": 2,
            "renyi.inference.roy:_FEW_ROWS": 40,
            "renyi.inference.roy:_NODE_START": 10,
        },
        "pandas",
        "dozen_with_gaps",
    ),
    Threshold(
        "wide blocks have no tables",
        {"renyi.inference.roy:MANY_ROOTS": 2, "renyi.inference.roy:_LARGEST_INTERPOLATED": 2},
        "pandas",
        "dozen",
        alone=True,
    ),
    Threshold(
        "far tails are integrated in blocks", {"renyi.inference.double_wishart:_ROOTS_PER_BLOCK": 1}, "pandas", "copies"
    ),
    Threshold(
        "the beta function of large arguments",
        {"renyi.inference.double_wishart:_LARGE_ARGUMENT": 100.0},
        "pair by pair",
        "many_levels",
        caches=(
            "renyi.inference.double_wishart:log_beta",
            "renyi.inference.roy:_tabulated",
            "renyi.inference.roy:critical_root",
            "renyi.inference.multiscale:_within_critical",
        ),
    ),
    Threshold(
        "permutations have tables of the null distribution",
        {"renyi.pair.independence:_DRAWS_WITHOUT_TABLE": 0},
        "pair by pair",
        "rare_events",
        seen_in="renyi.inference.roy",
    ),
    Threshold(
        "statistics of few permutations at a time",
        {"renyi.inference.permutation:_MOST_TOGETHER": 1, "renyi.inference.permutation:_BYTES_TOGETHER": 1},
        "pandas",
        "rare_events",
    ),
    Threshold("permutations are not kept", {"renyi.inference.permutation:_KEPT_DRAWS": 0}, "pandas", "twelve_rows"),
    Threshold(
        "permutations in small batches",
        {"renyi.inference.permutation:_BATCH_BYTES": 2**14, "renyi.inference.permutation:_MOST_IN_A_BATCH": 16},
        "pandas",
        "rare_events",
        moves=True,
        caches=("renyi.inference.permutation:_orders",),
    ),
    Threshold(
        "permutations of few rows", {"renyi.inference.permutation:_FEW_ROWS": 4}, "pandas", "twelve_rows", moves=True
    ),
    Threshold(
        "contingency tables in place of permutations",
        {"renyi.inference.permutation:_ROWS_PER_CELL": 1, "renyi.inference.permutation:_FEW_ROWS": 4},
        "pandas",
        "twelve_rows",
        moves=True,
    ),
    Threshold(
        "other measures take few pairs at once",
        {"renyi.tables.by_measure:_PAIRS_AT_ONCE": 1},
        "pandas",
        "measured",
        seen_in="renyi.compute.threads",
    ),
    # Batches.
    Threshold(
        "batches are taken in pieces", {"renyi.tables.rows:_ROWS_AT_ONCE": 16}, "accumulators", "labels_and_gaps"
    ),
    Threshold(
        "several passes over blocks of pairs", {"renyi.tables.accumulator:_SHARES": 2**15}, "list of pandas", "gaps"
    ),
    Threshold(
        "several passes over blocks of vectors",
        {"renyi.tables.accumulator:_SHARES": 2**15},
        "list of pandas",
        "vectors_with_gaps",
    ),
    Threshold(
        "values are counted by their leading bits",
        {"renyi.tables.budget:_LARGEST_CAPACITY": 2**11},
        "list of pandas",
        "sketched",
        moves=True,
        seen_in="renyi.allpairs.streaming.rank_sketch",
    ),
    Threshold("values are counted as they come", _AS_THEY_COME, "list of pandas", "ties"),
    Threshold(
        "places of values are looked for in parts",
        {
            "renyi.allpairs.streaming.rank_sketch:_WAITING": 0,
            "renyi.allpairs.streaming.rank_sketch:_FIRST_WAITING": 0,
            "renyi.allpairs.streaming.rank_sketch:_AT_ONCE": 3,
        },
        "list of pandas",
        "ties",
    ),
    Threshold(
        "counters give way to others",
        _AS_THEY_COME | {"renyi.allpairs.streaming.rank_sketch:_NEW_SHARE": 2**40},
        "list of pandas",
        "complete",
    ),
    Threshold(
        "values are sorted and not counted",
        _AS_THEY_COME | {"renyi.allpairs.streaming.rank_sketch:_ROOM": 0},
        "list of pandas",
        "ties",
    ),
    Threshold("cells are searched for", {"renyi.allpairs.streaming.rank_sketch:_BINS": 4}, "list of pandas", "ties"),
    Threshold(
        "plans are made anew",
        {"renyi.allpairs.streaming.plan:_MOST_PLANS": 0},
        "accumulators",
        "labels_and_gaps",
        alone=True,
    ),
    Threshold(
        "memory is given back after every batch",
        {"renyi.tables.batches:_BATCHES_PER_TURN": 1},
        "list of pandas",
        "gaps",
    ),
    Threshold(
        "partitions are counted by a glance",
        {"renyi.tables.batches:_GLANCE": 30, "renyi.tables.budget:_LARGEST_CAPACITY": 2**11},
        "dask",
        "sketched",
        moves=True,
        seen_in="renyi.allpairs.streaming.rank_sketch",
    ),
    Threshold("partitions are added up at once", {"renyi.compute.dask:_AT_ONCE": 7}, "dask", "gaps"),
    # The strongest pairs.
    Threshold(
        "weak pairs are dropped on the way",
        {"renyi.tables.top_pairs:_LEAST_TO_SORT": 4, "renyi.allpairs.tiles:_MOST_COLUMNS": 5},
        "strongest pairs",
        "dozen",
    ),
    # Devices.
    Threshold(
        "columns are multiplied in strips",
        {"renyi.allpairs.device.stack:_FEWEST_OF_STRIP": 2},
        "tensors on cpu",
        "dozen",
    ),
    Threshold(
        "rows on a device are multiplied in chunks",
        {
            "renyi.allpairs.device.stack:_MOST_ROWS": 16,
            "renyi.allpairs.device.stack:_FEWEST_ROWS": 8,
            "renyi.allpairs.device.stack:_ALIGNED": 8,
        },
        "tensors on cpu",
        "dozen",
    ),
    Threshold(
        "chunks of rows on a device have little room",
        {"renyi.allpairs.device.stack:_SHARE_OF_CHUNK": 1e-9},
        "tensors on cpu",
        "dozen_with_gaps",
    ),
    Threshold(
        "sums of chunks of rows on a device are added up in float64",
        {
            "renyi.allpairs.device.stack:_MOST_ROWS": 16,
            "renyi.allpairs.device.stack:_FEWEST_ROWS": 8,
            "renyi.allpairs.device.stack:_ALIGNED": 8,
            "renyi.allpairs.device.stack:_CHUNKS_TOGETHER": 2,
        },
        "tensors on cpu",
        "dozen",
    ),
    Threshold(
        "values on a device are standardised a few at a time",
        {"renyi.allpairs.device.values:_SHARE_AT_ONCE": 1e-9},
        "tensors on cpu",
        "dozen",
    ),
    Threshold(
        "tiles of few columns on a device",
        {"renyi.allpairs.device.compare:_MOST_COLUMNS": 5},
        "tensors on cpu",
        "dozen",
    ),
    Threshold(
        "pairs on a device take much room",
        {"renyi.allpairs.device.compare:_NUMBERS_OF_PAIR": 2**30},
        "tensors on cpu",
        "complete",
        alone=True,
    ),
    Threshold(
        "pairs with gaps on a device take much room",
        {"renyi.allpairs.device.compare:_NUMBERS_WITH_GAPS": 2**30},
        "tensors on cpu",
        "dozen_with_gaps",
        alone=True,
    ),
    Threshold(
        "single pairs are permuted on the device",
        {"renyi.pair.independence:_LEAST_DRAWN_THERE": 0},
        "tensors on cpu",
        "rare_numbers",
        moves=True,
        seen_in="renyi.inference.permutation",
    ),
    Threshold(
        "tables of few numbers of rows are made on the device",
        {"renyi.allpairs.device.functions:_FEWEST": 1},
        "tensors on cpu",
        "dozen_with_gaps",
    ),
    Threshold(
        "tables on a device are made a few at a time",
        {"renyi.allpairs.device.functions:_SHARE": 1e-9, "renyi.allpairs.device.functions:_FEWEST": 1},
        "tensors on cpu",
        "dozen_with_gaps",
    ),
    Threshold(
        "columns on a device are sorted a few at a time",
        {"renyi.allpairs.device.ranking:_BYTES_OF_SORTING": 2**24},
        "tensors on cpu",
        "dozen",
        alone=True,
    ),
    Threshold(
        "rows lie in memory, and a device works on them",
        {"renyi.compute.devices:_SHARE_OF_ROWS": 0.0},
        "tensors on cpu",
        "dozen_with_gaps",
    ),
    Threshold("a device has little room", {"renyi.compute.devices:_ROOM_ON_CPU": 2**17}, "tensors on cpu", "dozen"),
    Threshold(
        "matrices are filled in memory", {"renyi.compute.fetching:_SHARE_OF_MATRICES": 0.0}, "tensors on cpu", "dozen"
    ),
    Threshold(
        "matrices are fetched in pieces",
        {"renyi.compute.fetching:_PIECE": 16, "renyi.compute.fetching:_BUFFER": 5},
        "tensors on cpu",
        "dozen",
    ),
    Threshold(
        "products of one pair on a device in chunks",
        {"renyi.basis.canonical:_CHUNK_ROWS_ON_DEVICE": 17},
        "pair by pair on cpu",
        "rare_numbers",
    ),
    Threshold(
        "few permutations on a device at first",
        {"renyi.inference.permutation:_FIRST_ON_DEVICE": 16},
        "pair by pair on cpu",
        "rare_numbers",
        moves=True,
        within={"renyi.pair.independence:_LEAST_DRAWN_THERE": 0},
    ),
    Threshold(
        "products of a table with many functions by cells",
        {"renyi.basis.basis:_MANY_FUNCTIONS": 2},
        "pandas",
        "categories",
        seen_in="renyi.allpairs.stack",
    ),
    Threshold(
        "products of a pair with many functions by cells",
        {"renyi.basis.basis:_MANY_FUNCTIONS": 2},
        "pair by pair",
        "categories",
        seen_in="renyi.basis.canonical",
    ),
    Threshold(
        "the largest singular value alone", {"renyi.compute.linalg:_LARGE": 4}, "pair by pair", "levels_by_the_hundred"
    ),
    Threshold(
        "categories with gaps one pair after the other",
        {"renyi.allpairs.compare:_MOST_LEVELS": 1},
        "pandas",
        "labels_and_gaps",
    ),
    Threshold(
        "tables of two categories of a pair are sparse",
        {"renyi.basis.canonical:_CELLS_PER_ROW": 0},
        "pair by pair",
        "levels_by_the_hundred",
    ),
)
