import numpy as np
import pytest

from renyi.compute import sorting


def columns(n, rng):
    """Columns that radix sorts find easy, and those that defeat them."""
    return {
        "normal": rng.standard_normal(n),
        "ties": rng.integers(0, 50, n).astype(np.float64),
        "one value": np.zeros(n),
        "outlier": np.append(rng.standard_normal(n - 1), 1e300),
        "both ends of the floats": np.where(rng.random(n) < 0.5, -1e308, 1e308) * rng.random(n),
        "large whole numbers": rng.integers(-(2**62), 2**62, n),
        "neighbours": 2**62 + rng.permutation(n),
        "few bits": rng.integers(0, 2, n, dtype=np.uint8),
        "half": rng.standard_normal(n).astype(np.float32),
    }


@pytest.mark.parametrize("name", columns(10, np.random.default_rng(0)))
@pytest.mark.parametrize("n", [50, 3000])
def test_the_order_sorts_whichever_way_is_taken(name, n, rng, monkeypatch):
    values = columns(n, rng)[name]
    found = {"as it is": sorting.sorted_values(values)}
    monkeypatch.setattr(sorting, "_QUARTILES", 8)
    monkeypatch.setattr(sorting, "_SHORT_COLUMN", 16)
    found["two passes"] = sorting.sorted_values(values)
    monkeypatch.setattr(sorting, "_LONG_COLUMN", 40)
    monkeypatch.setattr(sorting, "_RUN", 64)
    monkeypatch.setattr(sorting, "_SAMPLE", 32)
    found["runs"] = sorting.sorted_values(values)
    for order, ordered in found.values():
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
        np.testing.assert_array_equal(ordered, np.sort(values))
        np.testing.assert_array_equal(values[order], ordered)


def test_columns_are_sorted_together_as_each_is_alone(rng):
    some = [part for part in columns(300, rng).values() if part.dtype == np.float64]
    for values, order in zip(some, sorting.orders(some), strict=True):
        known, ends = sorting.order_and_ties(values, order)
        assert np.array_equal(values[known], np.sort(values))
        assert np.array_equal(ends, sorting.order_and_ties(values)[1])


def test_the_last_of_equal_values_ends_them():
    np.testing.assert_array_equal(
        sorting.ends_of_ties(np.array([1.0, 1.0, 2.0, 3.0, 3.0])), [False, True, True, False, True]
    )


def test_orders_are_inverted_alone_and_together(rng):
    orders = np.stack([rng.permutation(9) for _ in range(4)])
    assert np.array_equal(sorting.inverse(orders), np.argsort(orders, axis=1))
    assert np.array_equal(sorting.inverse(orders[0]), np.argsort(orders[0]))


def test_dates_are_sorted_as_numbers_are():
    order, ends = sorting.order_and_ties(np.array(["2021-01-01", "2020-01-01", "2021-01-01"], dtype="M8[D]"))
    assert order[0] == 1
    assert ends.tolist() == [True, False, True]
