import pytest

from renyi.errors import InputError
from renyi.experiments.entries import chosen


def test_entries_by_name():
    assert [str(entry) for entry in chosen(["auto", "pearson", "auto"])] == ["auto", "pearson"]
    assert str(chosen(None)[-1]) == "auto"
    with pytest.raises(InputError, match=r"measures=person: .*pearson"):
        chosen(["person"])
