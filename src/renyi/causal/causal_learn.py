"""The conditional test as a `CIT` of causal-learn."""

import json
from collections.abc import Mapping
from typing import Any

from causallearn.utils.cit import CIT_Base, register_ci_test

import renyi
from renyi.causal.conditional import ConditionalTest
from renyi.data.align import Missing
from renyi.tables.budget import DEFAULT_MEMORY


class RenyiCIT(CIT_Base):  # type: ignore[misc]  # causal-learn has no types
    """P-values of pairs of columns of an array, by their places, as the searches of causal-learn ask for them.

    `cache_path` is a JSON file of p-values, as of every test there; other settings are those of `ConditionalTest`.
    """

    def __init__(
        self,
        data: Any,
        cache_path: str | None = None,
        *,
        types: Mapping[Any, Any] | None = None,
        missing: Missing = "pairwise",
        memory: str | int = DEFAULT_MEMORY,
    ) -> None:
        super().__init__(data, cache_path=cache_path)
        self.tests = ConditionalTest(data, types=types, missing=missing, memory=memory)
        said = [renyi.__version__, self.tests.names, None if types is None else dict(types), missing]
        self.check_cache_method_consistent("renyi", json.dumps(said, default=str))

    def __call__(self, X: Any, Y: Any, condition_set: Any = None) -> float:  # noqa: N803
        """The p-value, NaN where there is none, which the searches take as dependence."""
        (x,), (y,), given, key = self.get_formatted_XYZ_and_cachekey(X, Y, condition_set)
        if key not in self.pvalue_cache:
            self.pvalue_cache[key] = self.tests.pvalue(x, y, given)
        return float(self.pvalue_cache[key])


def register(name: str) -> type[RenyiCIT]:
    """Make the class known by a name."""
    register_ci_test(name, RenyiCIT)
    return RenyiCIT
