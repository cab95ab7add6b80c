"""Where the time of a table on a GPU goes, as shares: stages are waited for one after the other, which costs a little.

`gpu.py` uses it; by itself it times nothing.
"""

import functools
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any
from unittest.mock import patch

# What is counted as what, by module and function. Time within another stage counts there alone.
STAGES = {
    "reading and ranking": (
        *(("tables.on_device", "read_table"), ("tables.on_device", "ranked")),
        ("allpairs.device.compare", "groups_on_device"),
    ),
    "gathering functions": (
        *(("allpairs.device.stack", "DeviceStack.operand"), ("allpairs.device.stack", "paired")),
        ("allpairs.device.values", "DeviceValues.operand"),
    ),
    "products": (("allpairs.device.stack", "DeviceFunctions.products"), ("allpairs.device.rows", "_summed")),
    "bases on common rows": tuple(
        ("allpairs.common_rows", name) for name in ("_both_whitened", "_orthonormal", "Side.leverage_bounds")
    ),
    "spectra": (
        *(("allpairs.complete", "largest_root"), ("allpairs.common_rows", "largest_root")),
        ("inference.multiscale", "NestedProducts.roots"),
    ),
    "null distributions": (
        *(("allpairs.complete", "log_pvalues"), ("allpairs.common_rows", "CommonPairs._log_pvalues")),
    ),
    "pairs that few rows carry": (
        *(
            ("allpairs.device.compare", "_Comparison.looked"),
            ("allpairs.device.compare", "_Comparison.looked_in_the_end"),
        ),
    ),
    "results to memory": tuple(
        ("compute.fetching", f"Fetching.{name}") for name in ("__init__", "put", "fetch", "__exit__")
    ),
}


def shares(work: Callable[[], object], wait: Callable[[], None], /) -> dict[str, float]:
    """Seconds of the work as a whole, and the share of every stage of it."""
    seconds: dict[str, float] = defaultdict(float)
    within: list[float] = []

    def watched(stage: str, function: Any) -> Any:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            wait()
            start = time.perf_counter()
            within.append(0.0)
            try:
                return function(*arguments, **named)
            finally:
                wait()
                spent = time.perf_counter() - start
                seconds[stage] += spent - within.pop()
                if within:
                    within[-1] += spent

        return call

    with ExitStack() as patches:
        for stage, functions in STAGES.items():
            for module, name in functions:
                *owner, attribute = name.split(".")
                place: Any = import_module(f"renyi.{module}")
                for part in owner:
                    place = getattr(place, part)
                patches.enter_context(patch.object(place, attribute, watched(stage, getattr(place, attribute))))
        work()
        wait()
        seconds.clear()
        start = time.perf_counter()
        work()
        wait()
        whole = time.perf_counter() - start
    found = {stage: seconds[stage] / whole for stage in STAGES}
    return {"seconds": whole, **found, "all else": 1.0 - sum(found.values())}
