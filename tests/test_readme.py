"""What the README shows runs and gives the numbers it states."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parent.parent / "README.md"


def last_digit(number):
    """What one in the last digit of a printed number is worth."""
    digits, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def test_readme_python_runs_and_gives_its_numbers():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) == 4
    names = {}
    stated = 0
    for line in "\n".join(blocks).splitlines():
        code, _, comment = line.partition("  # ")
        numbers = re.match(r"[\[(]?(-?\d+\.\d+(?:e-\d+)?)", comment)
        if numbers is None:
            exec(code, names)
        else:
            value = np.ravel(eval(code, names))[0]
            assert value == pytest.approx(float(numbers[1]), abs=0.51 * last_digit(numbers[1]))
            stated += 1
    assert stated == 11
