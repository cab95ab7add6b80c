import numpy as np
import pytest
from scipy.stats import false_discovery_control

import renyi


def by_hand(p, method):
    """Straight from the definitions, one test after the other."""
    m, order = len(p), sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [0.0] * m
    for position, i in enumerate(order):
        if method == "bonferroni":
            adjusted[i] = min(1, m * p[i])
        elif method == "holm":
            adjusted[i] = min(1, max((m - k) * p[order[k]] for k in range(position + 1)))
        else:
            factor = sum(1 / k for k in range(1, m + 1)) if method == "by" else 1
            adjusted[i] = min(1, *(factor * m / (k + 1) * p[order[k]] for k in range(position, m)))
    return adjusted


@pytest.mark.parametrize("method", ["bh", "by", "holm", "bonferroni"])
def test_adjusted_values_are_those_of_the_definitions(method, rng):
    p = rng.random(40) ** 3
    p[3] = p[7]
    assert renyi.adjust(p, method) == pytest.approx(by_hand(list(p), method))


@pytest.mark.parametrize("method", ["bh", "by", "holm", "bonferroni"])
def test_tests_not_made_do_not_count(method, rng):
    p = rng.random((4, 5))
    p[1, 2] = p[3, 0] = np.nan
    adjusted = renyi.adjust(p, method)
    assert np.isnan(adjusted[[1, 3], [2, 0]]).all()
    assert adjusted[~np.isnan(p)] == pytest.approx(renyi.adjust(p[~np.isnan(p)], method))
    assert p.flags.writeable
    assert not np.shares_memory(p, adjusted)


def test_edges():
    assert renyi.adjust([]).shape == (0,)
    assert np.isnan(renyi.adjust([np.nan])).all()
    assert renyi.adjust([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert renyi.adjust(0.03).tolist() == 0.03
    assert renyi.adjust(np.ma.masked_array([0.1, 0.2], [False, True])) == pytest.approx([0.1, np.nan], nan_ok=True)
    assert renyi.adjust([0.1, None]) == pytest.approx([0.1, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 1.2],), "1.2 is not a p-value"),
        (([-0.1],), "-0.1 is not a p-value"),
        ((["a"],), "no array of numbers"),
        ((["0.1"],), "no array of numbers"),
        (([True],), "no array of numbers"),
        (([10**400],), "no array of numbers"),
        (([0.1 + 0j],), "no array of numbers"),
        (([0.1], "fdr"), "choose one of 'bh', 'by', 'holm', 'bonferroni'"),
    ],
)
def test_what_is_no_p_value_is_refused(arguments, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.adjust(*arguments)


@pytest.mark.parametrize("method", ["bh", "by"])
def test_rates_are_those_of_scipy(method, rng):
    pvalues = np.concatenate((rng.random(200), rng.random(20) ** 8, [0.0, 1.0, 0.5, 0.5]))
    assert renyi.adjust(pvalues, method) == pytest.approx(false_discovery_control(pvalues, method=method), rel=1e-12)
