import pickle

import numpy as np
import pytest

from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY, Coder, RankSketch
from renyi.basis.ranks import quantise
from renyi.data.exact import FineCoder, beyond, split

N = 40_000
SAMPLES = {
    "normal": lambda rng: rng.normal(size=N),
    "wide": lambda rng: np.exp(20 * rng.normal(size=N)),
    "narrow": lambda rng: 1e6 + rng.normal(size=N),
    "zeros": lambda rng: np.where(rng.random(N) < 0.5, 0.0, rng.normal(size=N)),
    "whole": lambda rng: rng.integers(-150, 150, N).astype(float),
    "huge": lambda rng: rng.normal(size=N) * 1e307,
    "tiny": lambda rng: rng.normal(size=N) * 5e-320,
    "both zeros": lambda rng: rng.choice([-0.0, 0.0, 1.0], N),
}
# Numbers between floats: their tails fit, some bits of them are dropped, all are, and bits of the floats too.
WHOLE = {
    "few": lambda rng: 2**62 + rng.integers(-1000, 1000, N),
    "some": lambda rng: 2**62 + rng.integers(-20_000, 20_000, N),
    "negative": lambda rng: -(2**60) - rng.integers(0, 300_000, N),
    "dates": lambda rng: np.datetime64(1_600_000_000 * 10**9, "ns") + rng.integers(0, 10**6, N).astype("m8[ns]"),
    "all": lambda rng: rng.integers(0, 2**64 - 1, N, dtype=np.uint64),
    "long floats": lambda rng: np.longdouble(1) + rng.integers(0, 2**12, N) * np.longdouble(2) ** -63,
    "beside small": lambda rng: np.where(rng.random(N) < 0.5, rng.integers(-50, 50, N), 2**61 + rng.integers(0, 99, N)),
}


def counted(values, cuts, capacity=LEAST_CAPACITY):
    sketch = RankSketch(capacity)
    for part in np.split(values, cuts):
        sketch.update(*split(part))
    return sketch.settle()


def same(a, b):
    tails = [np.zeros(len(part.parts)) if part.tails is None else part._ends_of_tails for part in (a, b)]
    return (
        (a.shift, a.kept) == (b.shift, b.kept)
        and np.array_equal(*tails)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("parts", "counts", "is_mixed"))
    )


@pytest.mark.parametrize("name", [*SAMPLES, *WHOLE])
def test_cuts_order_and_merging_change_nothing(name, rng):
    values = (SAMPLES | WHOLE)[name](rng)
    whole = counted(values, [])
    assert same(whole, counted(rng.permutation(values), [1, 1, 5000, 30_000]))
    parts = [counted(part, [7]) for part in np.split(values, [100, 20_000, 20_000])]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        total = RankSketch(LEAST_CAPACITY)
        for k in order:
            total.merge(pickle.loads(pickle.dumps(parts[k])))
        assert same(whole, total.settle())


@pytest.mark.parametrize("name", [*SAMPLES, *WHOLE])
def test_knowing_where_values_lie_changes_nothing(name, rng):
    values = (SAMPLES | WHOLE)[name](rng)
    whole = counted(values, [])
    first, *others = np.split(values, [20_000, 20_000, 21_000])
    layout = pickle.loads(pickle.dumps(counted(first[:10_000], []).layout))
    total = RankSketch(LEAST_CAPACITY)
    for part in (others[2], first, *others[:2]):
        some = RankSketch.beginning(LEAST_CAPACITY, layout)
        some.update(*split(part))
        total.merge(pickle.loads(pickle.dumps(some)))
    assert same(whole, total.settle())
    assert total.is_constant == whole.is_constant


def test_a_summary_travels_in_few_bytes(rng):
    sketch = counted(rng.normal(size=400_000), [], capacity=2**15)
    back = pickle.loads(pickle.dumps(sketch))
    assert same(back, sketch)
    assert np.array_equal(back.first[~back.is_mixed], sketch.first[~sketch.is_mixed])
    assert len(pickle.dumps(sketch)) < 8 * len(sketch.parts)


@pytest.mark.parametrize("spread", [0.0, 7.0, 20.0])
def test_counting_without_sorting_is_counting(spread, rng):
    # Enough for several rounds of the counter, with values that it has not seen before, so that bits are dropped late.
    values = rng.normal(size=120_000) * np.exp(spread * np.arange(120_000) / 120_000 * rng.random(120_000))
    sketch = counted(values, range(5_000, 120_000, 5_000))
    bits = np.where(np.signbit(values), ~values.view(np.uint64), values.view(np.uint64) | np.uint64(2**63))
    parts, counts = np.unique(bits >> np.uint64(sketch.shift), return_counts=True)
    assert np.array_equal(sketch.parts, parts)
    assert np.array_equal(sketch.counts, counts)
    distinct = np.unique(bits)
    assert np.array_equal(sketch.is_mixed, np.unique(distinct >> np.uint64(sketch.shift), return_counts=True)[1] > 1)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_cell_of_a_value_is_found_by_bins(name, rng):
    values = SAMPLES[name](rng)
    sketch = counted(values, [], capacity=2**16)
    cells, smallest, _ = sketch.cells(8192)
    codes = Coder.of(smallest, cells.counts)(values)
    assert np.array_equal(codes, np.searchsorted(smallest[1:], values, side="right"))
    assert np.array_equal(np.bincount(codes, minlength=len(cells.counts)), cells.counts)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_fits_has_the_grid_of_a_table_in_memory(name, rng):
    values = SAMPLES[name](rng)
    cells, *_ = counted(values, [9], capacity=2**16).cells(8192)
    exact = quantise(values, n_cells=8192)
    assert np.array_equal(cells.counts, exact.counts)
    assert cells.ranks == pytest.approx(exact.ranks, abs=1e-15)
    assert cells.has_ties == exact.has_ties


@pytest.mark.parametrize("name", ["normal", "narrow", "zeros"])
def test_ranks_are_off_by_no_more_than_is_said(name, rng):
    values = SAMPLES[name](rng)
    sketch = counted(values, [])
    assert 0 < sketch.rank_error < 2e-3
    cells, smallest, _ = sketch.cells(None)
    codes = Coder.of(smallest, cells.counts)(values)
    exact = quantise(values)
    assert np.abs(cells.middles[codes] - exact.middles[exact.codes]).max() <= sketch.rank_error


def test_tails_are_the_first_bits_to_go(rng):
    kept = {name: (sketch := counted(WHOLE[name](rng), [])).kept for name in WHOLE}
    assert kept["few"] == kept["beside small"] == kept["long floats"] == 13
    assert 0 < kept["some"] < 13
    assert 0 < kept["dates"] < 13
    assert kept["all"] == 0
    assert sketch.rank_error == 0.0


def test_numbers_without_tails_have_the_parts_that_they_have_alone(rng):
    values = SAMPLES["normal"](rng)
    alone, both = counted(values, [], capacity=2**15), counted(values, [], capacity=2**15)
    both.update(*split(2**62 + np.arange(5)))
    assert both.settle().shift == alone.shift > 0
    assert np.array_equal(both.parts[: len(alone.parts)], alone.parts)


@pytest.mark.parametrize("name", WHOLE)
def test_numbers_between_floats_have_the_grid_of_a_table_in_memory(name, rng):
    values = WHOLE[name](rng)
    cells, smallest, tails = counted(values, [9], capacity=2**16).cells(8192)
    exact = quantise(values, n_cells=8192)
    assert np.array_equal(cells.counts, exact.counts)
    assert cells.has_ties == exact.has_ties
    codes = FineCoder.of(smallest, tails)(*split(values))
    assert np.array_equal(codes, exact.codes)


@pytest.mark.parametrize("name", ["some", "negative", "dates"])
def test_ranks_of_numbers_between_floats_are_off_by_no_more_than_is_said(name, rng):
    values = WHOLE[name](rng)
    sketch = counted(values, [])
    assert 0 < sketch.rank_error < 2e-3
    cells, smallest, tails = sketch.cells(None)
    codes = FineCoder.of(smallest, tails)(*split(values))
    exact = quantise(values)
    assert np.abs(cells.middles[codes] - exact.middles[exact.codes]).max() <= sketch.rank_error


def test_the_cell_of_a_value_that_was_not_counted(rng):
    values = 2**62 + 7 * rng.permutation(300)
    cells, smallest, tails = counted(values, []).cells(None)
    others = np.concatenate((values + rng.integers(-3, 4, 300), [2**60, 2**63 - 1, -5]))
    expected = np.searchsorted(np.sort(values)[1:], others, side="right")
    assert np.array_equal(FineCoder.of(smallest, tails)(*split(others)), expected)
    assert np.array_equal(FineCoder.of(smallest, tails)(np.array([1.5, 2.0**63]), None), [0, len(cells.counts) - 1])


def test_numbers_between_floats_are_standardised_without_rounding(rng):
    steps = rng.integers(0, 500, N)
    sketch = counted(2**62 + steps, [100])
    location, scale = sketch.location_and_scale()
    assert location == pytest.approx((steps - steps.min()).mean())
    assert scale == pytest.approx(steps.std())
    assert np.array_equal(beyond(sketch.origin, *split(2**62 + steps)), steps - steps.min())


def test_one_value_between_floats_is_constant():
    assert counted(np.full(9, 2**62 + 1), []).is_constant
    assert not counted(np.array([2**62, 2**62 + 1]), []).is_constant


def test_few_values_that_a_counter_does_not_know_wait_for_more(rng):
    sketch = RankSketch.beginning(LEAST_CAPACITY, None)
    values = rng.uniform(1.0, 2.0, (2, 8 * LEAST_CAPACITY))
    sketch.update(values[0])
    sketch.update(np.append(values[1], [1e6, -3.0]))
    ((waiting, _),) = sketch._waiting
    assert waiting.tolist() == [1e6, -3.0]
    whole = RankSketch.beginning(LEAST_CAPACITY, None)
    whole.update(np.append(values, [1e6, -3.0]))
    for name in ("parts", "counts", "is_mixed", "shift"):
        assert np.array_equal(getattr(sketch.settle(), name), getattr(whole.settle(), name))
    # All of which are known leave nothing that waits.
    sketch.update(np.full(8 * LEAST_CAPACITY, 1.5))
    sketch.update(np.full(8 * LEAST_CAPACITY, 1.5))
    assert sketch._waiting == []
    assert sketch.n_values == whole.n_values + 16 * LEAST_CAPACITY
