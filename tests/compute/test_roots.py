import math

import pytest

from renyi.compute.roots import root_between


@pytest.mark.parametrize(
    ("function", "low", "high", "root"),
    [(lambda x: x * x - 2, 0.0, 2.0, math.sqrt(2)), (lambda x: 1 - x**3, 0.5, 9.0, 1.0), (math.sin, 3.0, 4.0, math.pi)],
)
def test_the_root_is_found_to_the_last_digit(function, low, high, root):
    found = root_between(function, low, high)
    assert found in (root, math.nextafter(root, -math.inf), math.nextafter(root, math.inf))


def test_a_function_that_keeps_its_sign_has_no_root():
    with pytest.raises(ValueError, match=r"same sign at 1\.0 and 2\.0"):
        root_between(lambda x: x, 1.0, 2.0)
