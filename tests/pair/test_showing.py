"""The way from a result to what shows it, which is taken when it is asked for."""

import pytest

import renyi
from command_line import python
from renyi import report
from renyi.pair import showing


@pytest.mark.slow
def test_testing_loads_nothing_that_shows_results():
    run = python(
        "import sys, renyi\n"
        "found = renyi.independence_test(range(50), [i * i for i in range(50)])\n"
        "print([name for name in sys.modules if name.startswith('renyi.report')])"
    )
    assert run.stdout == "[]\n", run.stderr


def test_all_that_results_ask_for_is_there():
    assert showing.report() is report
    for name in report.__all__:
        assert callable(getattr(showing.report(), name))


def test_results_show_their_public_names_alone(rng):
    x, y = rng.standard_normal((2, 60))
    test, functions = renyi.independence_test(x, y), renyi.transformations(x, y)
    assert {"pvalue", "strength", "confidence_interval"} < set(dir(test))
    assert {"f", "g", "correlation", "plot"} < set(dir(functions))
    assert not {"bases", "by_theory", "by_permutation", "__eq__"} & {*dir(test), *dir(functions)}
