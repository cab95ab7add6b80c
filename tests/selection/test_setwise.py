"""Sets of columns as vectors, by any measure that takes them."""

import numpy as np
import pytest

import renyi
from odd_measures import Explained
from renyi.data.column import Column
from renyi.errors import InputError
from renyi.selection.setwise import Setwise


def column(name, values, missing=None):
    return Column(name, "number", np.asarray(values, dtype=float), missing)


def setwise(x, y, *, measure=None, is_tested=False, gaps=None, **settings):
    columns = [column(f"x{k}", values, None if gaps is None else gaps[k]) for k, values in enumerate(x.T)]
    return Setwise(columns, column("y", y), measure or Explained(), is_tested=is_tested, seed=3, **settings)


def explained(x, y):
    design = np.column_stack([np.ones(len(y)), x])
    return 1 - np.var(y - design @ np.linalg.lstsq(design, y)[0]) / np.var(y)


def test_the_best_is_the_one_with_which_the_chosen_say_most(rng):
    x = rng.standard_normal((200, 4))
    y = x[:, 2] + 0.8 * x[:, 0] + 0.1 * rng.standard_normal(200)
    # A copy says more alone than x0, and nothing beside what it is a copy of.
    x[:, 3] = x[:, 2] + 0.4 * rng.standard_normal(200)
    search = setwise(x, y, n_threads=2)
    first = search.best([0, 1, 2, 3], room=4, alpha=0.05)
    assert first.features == (2,)
    assert -first.others == pytest.approx([explained(x[:, [k]], y) for k in range(4)])
    search.add(2)
    assert search.dependence == pytest.approx(explained(x[:, [2]], y))
    second = search.best([0, 1, 3], room=3, alpha=0.05)
    assert second.features == (0,)
    assert -second.others == pytest.approx([explained(x[:, [2, k]], y) for k in (0, 1, 3)])
    assert np.isnan(second.log_pvalue)


def test_missing_rows_are_left_out_of_the_set_that_has_them(rng):
    x, gaps = rng.standard_normal((80, 2)), rng.random((2, 80)) < 0.3
    y = x.sum(axis=1) + rng.standard_normal(80)
    search = setwise(x, y, gaps=gaps)
    assert -search.best([0, 1], room=2, alpha=0.05).others == pytest.approx(
        [explained(x[~gaps[k]][:, [k]], y[~gaps[k]]) for k in range(2)]
    )
    search.add(1)
    rows = ~gaps.any(axis=0)
    assert -search.best([0], room=1, alpha=0.05).others == pytest.approx([explained(x[rows], y[rows])])


def test_what_cannot_be_measured_is_never_the_best(rng):
    x = rng.standard_normal((30, 2))
    gaps = [np.arange(30) > 1, None]
    search = setwise(x, rng.standard_normal(30), gaps=gaps)
    found = search.best([0, 1], room=2, alpha=0.05)
    assert found.features == (1,)
    assert found.others[0] == np.inf
    search.add(0)
    with pytest.raises(InputError, match="too few rows have all columns"):
        search.dependence  # noqa: B018


@pytest.mark.slow
def test_the_pvalue_is_that_of_the_best_of_all(rng):
    noise, y = rng.standard_normal((60, 8)), rng.standard_normal(60)
    # A large alpha, so that all 199 permutations are taken.
    found = setwise(noise, y, is_tested=True).best(range(8), room=8, alpha=0.5)
    best = -found.others.min()
    permuted = [max(explained(noise[order][:, [k]], y) for k in range(8)) for order in map(rng.permutation, [60] * 500)]
    assert np.exp(found.log_pvalue) == pytest.approx(np.mean(permuted >= best), abs=4 * (0.5 / np.sqrt(199)))
    alone = renyi.measure("pearson").test(noise[:, found.features[0]], y).pvalue
    assert np.exp(found.log_pvalue) > 2 * alone
    again = setwise(noise, y, is_tested=True).best(range(8), room=8, alpha=0.5)
    assert again.log_pvalue == found.log_pvalue
    # As soon as it is clear that alpha is exceeded no more of them are.
    early = setwise(noise, y, is_tested=True).best(range(8), room=8, alpha=0.01)
    assert 0.01 < np.exp(early.log_pvalue) != np.exp(found.log_pvalue)


def test_a_dependence_has_the_smallest_pvalue_that_permutations_can_tell(rng):
    x = rng.standard_normal((60, 3))
    found = setwise(x, x[:, 1], is_tested=True).best(range(3), room=3, alpha=0.05)
    assert np.exp(found.log_pvalue) == pytest.approx(1 / 200)
