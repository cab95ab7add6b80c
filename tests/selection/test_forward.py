"""The search, also over `series` (their sizes are in tests/sklearn/test_selector.py)."""

import numpy as np
import pytest

from renyi.data.column import Column
from renyi.selection.candidates import as_candidates
from renyi.selection.forward import ByGain, forward
from renyi.selection.gain import Gains


def search(x, y, *, most=None, alpha=0.01, pairs=True):
    columns = [Column(f"x{j}", "number", np.ascontiguousarray(values)) for j, values in enumerate(x.T)]
    criterion = ByGain(Gains(as_candidates(columns), Column("y", "number", y)), pairs=pairs)
    return forward(
        criterion, [column.name for column in columns], range(len(columns)),
        most=most or len(columns), alpha=alpha, stops=most is None,
    )  # fmt: skip


def xor(seed, n=500, n_noise=10):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 2 + n_noise))
    return x, np.sign(x[:, 0] * x[:, 1]) + rng.normal(0, 0.3, n)


def test_path_has_steps_that_never_fall_and_the_others_follow():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(600, 8))
    y = 2 * x[:, 5] + np.sin(6 * x[:, 2]) + 0.3 * rng.normal(size=600)
    steps, left = search(x, y)
    assert {step.feature for step in steps} == {2, 5}
    assert [step.name for step in steps] == [f"x{step.feature}" for step in steps]
    assert steps[0].dependence < steps[1].dependence
    assert all(step.pvalue < 0.01 for step in steps)
    assert sorted(left) == [0, 1, 3, 4, 6, 7]


def test_a_number_is_met_with_noise_if_it_must_be():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(300, 6))
    steps, left = search(x, x[:, 3] + 0.1 * rng.normal(size=300), most=4)
    assert steps[0].feature == 3
    assert len(steps) == 4
    assert len(left) == 2
    assert all(step.pvalue > 0.01 for step in steps[1:])
    assert np.all(np.diff([step.dependence for step in steps]) >= 0)


def test_pairs_show_what_no_single_column_does():
    x, y = xor(2)
    steps, _ = search(x, y)
    assert {step.feature for step in steps} == {0, 1}
    assert search(x, y, pairs=False)[0] == []


def test_one_column_alone_is_asked_for_and_no_pair_comes():
    x, y = xor(3)
    assert len(search(x, y, most=1)[0]) == 1


def test_an_interaction_is_found_beside_other_effects():
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (800, 12))
    y = x[:, 0] + x[:, 3] * x[:, 7] + 0.2 * rng.normal(size=800)
    assert {step.feature for step in search(x, y)[0]} == {0, 3, 7}


def test_pvalues_are_adjusted_for_the_best_of_many():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(300, 40)), rng.normal(size=300)
    few, many = search(x[:, :1], y, most=1, pairs=False)[0][0], search(x, y, most=1, pairs=False)[0][0]
    alone = search(x[:, [many.feature]], y, most=1, pairs=False)[0][0]
    assert few.pvalue <= 1.0
    assert many.pvalue == pytest.approx(min(1.0, 40 * alone.pvalue))


@pytest.mark.slow
def test_noise_is_left_alone_at_the_stated_rate():
    chosen = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, 6])
        chosen += bool(search(rng.normal(size=(150, 15)), rng.standard_cauchy(150), alpha=0.05)[0])
    # At most 5 % of 150 by Bonferroni; 15 are three standard deviations more.
    assert chosen <= 15


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
def test_friedman_functions_are_found_among_noise(number):
    from sklearn import datasets

    relevant = {1: {0, 1, 2, 3, 4}, 2: {1, 2}, 3: {0, 1, 2}}[number]
    found = 0
    for seed in range(10):
        make = getattr(datasets, f"make_friedman{number}")
        x, y = make(1000, 5, noise=1.0, random_state=seed) if number == 1 else make(1000, random_state=seed)
        noise = np.random.default_rng(seed).uniform(size=(1000, 50))
        steps, _ = search(np.column_stack((x, noise)), y, most=len(relevant))
        found += {step.feature for step in steps} == relevant
    assert found >= 9
