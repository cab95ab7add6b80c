"""The doors: every way by which a table comes into the package, and the answer that comes out.

To add a door, write how it holds a table (`build`) and how it is asked, and enter both in `DOORS`.
"""

import pickle
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from itertools import combinations
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import renyi
from contracts.answers import EXACT, HALVES, SINGLE, Answer, Rounding
from contracts.holding import (
    as_array,
    as_arrow,
    as_dask,
    as_dataset,
    as_dict,
    as_file,
    as_ibis,
    as_pandas,
    as_polars,
    as_records,
    as_relation,
    as_spark,
    as_tensor,
    as_tensor_alone,
    as_tensors,
    columns_alone,
    in_batches,
)
from contracts.lowering import as_if_large, lowered
from contracts.tables import Table

# How they are asked: all pairs, or those of a target.


def asked(data: Any, *, target: str | None = None, **options: Any) -> Any:
    return renyi.matrix(data, **options) if target is None else renyi.screen(data, target, **options)


def asked_in_small_batches(path: Path, **options: Any) -> Any:
    """A file in a few batches, as one that does not fit into memory."""
    n_rows = len(pl.read_parquet(path)) if path.suffix == ".parquet" else path.read_bytes().count(b"\n")
    return asked_as_large((n_rows, path), n_bytes=path.stat().st_size, **options)


def asked_as_large(held: tuple[int, Any], *, n_bytes: int = 0, **options: Any) -> Any:
    """A table of so many rows in a few batches, as one that does not fit into memory."""
    n_rows, data = held
    with lowered(as_if_large(n_rows, n_bytes)):
        return asked(data, **options)


def asked_by_accumulators(batches: list[Any], **options: Any) -> Any:
    """One accumulator for every batch, all of which travel, and are merged in another order."""

    def passed(begin: Callable[[], renyi.Accumulator]) -> renyi.Accumulator:
        total, parts = begin(), [begin() for _ in batches]
        for part, batch in zip(parts, batches, strict=True):
            part.update(batch)
        for k in sorted(range(len(parts)), key=lambda k: (k * 3 + 1) % len(parts)):
            total.merge(pickle.loads(pickle.dumps(parts[k])))
        return total

    done = passed(lambda: renyi.Accumulator(**options))
    while not done.is_last:
        done = passed(done.second_pass().empty)
    return done.result()


def asked_on_cluster(data: Any, **options: Any) -> Any:
    import dask

    with dask.config.set(scheduler="synchronous"):
        return asked(data, **options)


def asked_on_device(data: Any, device: str, **options: Any) -> Any:
    """What is in memory, compared by torch, also on the processor."""
    import torch

    with patch("renyi.tables.api.device_of", lambda *_: torch.device(device)):
        return asked(data, **options)


def asked_of_spark(data: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        # PySpark is behind pandas 3, and says so.
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        return asked(data, **options)


MOST_PAIRS = 100


def asked_by_pairs(
    table: Table, *, target: str | None = None, correction: str = "bh", device: str | None = None, **options: Any
) -> Answer:
    """Every pair by itself; of very many some. On a device whatever torch has a type for is a tensor there."""
    missing, measure = options.pop("missing", "pairwise"), options.pop("measure", None)
    columns = columns_alone(table.complete() if missing == "listwise" else table, **options)
    if device is not None:
        columns = {name: as_tensor_alone(column, device) for name, column in columns.items()}
    every = list(combinations(columns, 2)) if target is None else [(name, target) for name in columns if name != target]
    pairs: dict[Any, Any] = {}
    for x, y in every[:: 1 + len(every) // MOST_PAIRS]:
        try:
            of_one = partial(of_pair, device) if measure is None else partial(of_measured_pair, measure)
            pairs[x, y] = of_one(columns[x], columns[y], missing)
        except renyi.InputError as error:
            pairs[x, y] = {"refused": str(error)}
    tested = [said for said in pairs.values() if "refused" not in said]
    rates = renyi.adjust(np.exp([said["log p"] for said in tested]), correction)
    for said, rate in zip(tested, rates.tolist(), strict=True):
        said["q"] = rate
    return Answer(pairs)


def asked_for_the_strongest(data: dict[str, Any], **options: Any) -> Answer:
    """Twenty pairs, of which the frame says but a part."""
    found = renyi.pairs(data, top=20, fdr=1.0, **options).to_frame()
    names = {
        "coefficient": "coefficient",
        "debiased": "debiased",
        "strength": "strength",
        "n": "n",
        "nonlinear": "is nonlinear",
    }
    pairs = zip(found["x"].tolist(), found["y"].tolist(), strict=True)
    return Answer({pair: {said: found[name][k].item() for name, said in names.items()} for k, pair in enumerate(pairs)})


def of_pair(device: str | None, x: Any, y: Any, missing: str) -> dict[str, Any]:
    test = renyi.independence_test(x, y, missing=missing)
    if device is None:
        functions = renyi.transformations(x, y, missing=missing)
        assert renyi.rdc(x, y, missing=missing) == functions.correlation == test.coefficient
        assert functions.debiased == test.debiased
    else:
        assert renyi.rdc(x, y, missing=missing) == pytest.approx(test.coefficient, rel=1e-9)
    return {
        "coefficient": test.coefficient,
        "debiased": renyi.rdc(x, y, missing=missing, debias=True),
        "strength": test.strength,
        "log p": test.log_pvalue,
        "n": test.n_samples,
        "dimensions": test.dimensions,
        "is permuted": test.calibration == "permutation",
    }


def of_measured_pair(name: str, x: Any, y: Any, missing: str) -> dict[str, Any]:
    by = renyi.measure(name)
    test = by.test(x, y, missing=missing)
    return {
        "coefficient": by(x, y, missing=missing),
        "log p": test.log_pvalue,
        "n": test.n_samples,
        "is permuted": test.calibration == "permutation",
    }


# The doors.


@dataclass(frozen=True)
class Door:
    """A way into the package.

    `lacks` says what it cannot do, by what tables need: the message with which it refuses such a table, or None where
    it cannot even hold one, so that there is nothing to ask. One of the doors that compute alike is their key; others
    differ from it in how they read. A door that takes seconds for every table has `only` some of them, by their names.
    """

    name: str
    build: Callable[[Table, Path], Any]
    ask: Callable[..., Any] = asked
    lacks: Mapping[str, str | None] = field(default_factory=dict)
    has_names: bool = True
    is_key: bool = False
    needs: str = ""
    only: frozenset[str] = frozenset()
    rounding: Rounding = EXACT
    single: Rounding = SINGLE

    def __str__(self) -> str:
        return self.name

    def holds(self, table: Table) -> bool:
        """Whether this door can hold a table at all."""
        is_taken = not self.only or table.name in self.only
        return is_taken and all(self.lacks.get(need, "") is not None for need in table.needs)

    def refusal(self, table: Table) -> str | None:
        """The message with which a table that it holds is refused, if it is: one of several, as a pattern."""
        return "|".join(message for need in sorted(table.needs) if (message := self.lacks.get(need))) or None

    def found(self, table: Table, **options: Any) -> Any:
        """What the door gives for a table."""
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            return self.ask(self.build(table, Path(folder)), **table.options | options)

    def answer(self, table: Table, **options: Any) -> Answer:
        found = self.found(table, **options)
        answer = found if isinstance(found, Answer) else Answer.of(found)
        return answer if self.has_names else answer.renamed({f"x{j}": name for j, name in enumerate(table.columns)})


def _door(
    name: str, hold: Callable[[Table], Any], ask: Callable[..., Any] = asked, *, needs: str = "", **rest: Any
) -> Door:
    """A door that needs no folder, but may need a library; without it, tests of the door are skipped."""

    def build(table: Table, _: Path) -> Any:
        if needs:
            pytest.importorskip(needs, reason=f"needs {needs}")
        return hold(table)

    return Door(name, build, ask, needs=needs, **rest)


# What containers cannot hold.
_WITHOUT_ORDER = {"ordered": None}
_TEXT = {"ordered": None, "single": None, "span": None, "infinities": None}
# A line of a CSV without any cell is no row.
_CSV = _TEXT | {"an empty row": None}
_NUMBERS = {"label": None, "spelled": None, "moment": None, "nanosecond": None, "span": None, "ordered": None}
_ARRAY = _NUMBERS | {"flag": None, "several kinds": None, "gaps in whole numbers": None}
_RECORDS = {"ordered": None, "gaps in whole numbers": None, "gaps in labels": None}

# What is not done yet.
_IN_BATCHES = {
    "missing=listwise": "missing='listwise' needs whole rows before they are ranked",
    "measure=dcor": "measure=dcor is not taken over batches",
}
_ON_DEVICE = {
    "measure=dcor": "measure='dcor' is not for a device",
    "wide numbers beside floats": "whole numbers that floats beside it would round",
}
_OWN_DRAWS = Rounding(permuted=0.5)
# Every type that Arrow brings, gaps, pooled levels, what is decided after the first pass, and all that is refused.
_FOR_SPARK = {"labels_and_gaps", "infinities", "beyond_floats", "dates", "vectors", "listwise", "measured"}

# What is put together is read as a frame is.
_LOADED = frozenset(
    {"complete", "labels_and_gaps", "rare_levels", "dates", "dates_as_text", "vectors", "beyond_floats"}
)

REFERENCE = _door("pandas", as_pandas, is_key=True)
IN_MEMORY = (
    REFERENCE,
    _door("polars", as_polars, lacks=_WITHOUT_ORDER),
    _door("arrow", as_arrow),
    _door("dict", as_dict, lacks=_WITHOUT_ORDER),
    _door("array", as_array, lacks=_ARRAY | {"types": None, "vectors": None}, has_names=False),
    _door("records", as_records, lacks=_RECORDS),
    Door("parquet at once", lambda table, folder: as_file(table, folder, "parquet"), lacks=_WITHOUT_ORDER),
    Door("csv at once", lambda table, folder: as_file(table, folder, "csv"), lacks=_CSV),
    Door("dataset at once", as_dataset, only=_LOADED),
    _door("duckdb at once", as_relation, lacks=_WITHOUT_ORDER, needs="duckdb", only=_LOADED),
    _door("list of polars at once", lambda table: in_batches(table, as_polars), lacks=_WITHOUT_ORDER, only=_LOADED),
    _door(
        "iterator of dicts at once", lambda table: iter(in_batches(table, as_dict)), lacks=_WITHOUT_ORDER, only=_LOADED
    ),
)


def _large_door(name: str, hold: Callable[[Table], Any], **rest: Any) -> Door:
    """A door that would load a small table, and shows here what it does with a large one."""
    return _door(name, lambda table: (table.n_rows, hold(table)), asked_as_large, **rest)


BATCHES = (
    _large_door(
        "iterator of polars", lambda table: iter(in_batches(table, as_polars)), lacks=_WITHOUT_ORDER | _IN_BATCHES
    ),
    _large_door("list of pandas", lambda table: in_batches(table, as_pandas), lacks=_IN_BATCHES),
    _large_door("function giving arrow", lambda table: lambda: iter(in_batches(table, as_arrow)), lacks=_IN_BATCHES),
    _large_door("lazy frame", lambda table: as_polars(table).lazy(), lacks=_WITHOUT_ORDER | _IN_BATCHES),
    Door(
        "dataset",
        lambda table, folder: (table.n_rows, as_dataset(table, folder)),
        asked_as_large,
        lacks=_IN_BATCHES,
    ),
    _large_door("duckdb", as_relation, lacks=_WITHOUT_ORDER | _IN_BATCHES, needs="duckdb"),
    _large_door("ibis", as_ibis, lacks=_WITHOUT_ORDER | _IN_BATCHES, needs="ibis"),
    *(
        Door(
            f"{kind} in batches",
            lambda table, folder, kind=kind: as_file(table, folder, kind),
            asked_in_small_batches,
            lacks=lacks | _IN_BATCHES,
        )
        for kind, lacks in (("parquet", _WITHOUT_ORDER), ("csv", _CSV), ("ndjson", _TEXT))
    ),
    _door(
        "spark",
        as_spark,
        asked_of_spark,
        lacks=_IN_BATCHES,
        needs="pyspark",
        only=frozenset(_FOR_SPARK),
    ),
    _door(
        "accumulators",
        lambda table: in_batches(table, as_dict),
        asked_by_accumulators,
        lacks=_WITHOUT_ORDER | _IN_BATCHES,
        is_key=True,
    ),
    _door("dask", as_dask, asked_on_cluster, lacks=_IN_BATCHES, needs="dask", is_key=True),
)


@cache
def devices() -> tuple[str, ...]:
    """Devices of torch that are there, and those that are named."""
    if find_spec("torch") is None:
        return ("cpu",)
    import torch

    found = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    return tuple(dict.fromkeys([*found, *filter(None, environ.get("RENYI_DEVICES", "").split(","))]))


def _device_door(name: str, hold: Callable[[Table], Any], device: str, *asking: Any, **rest: Any) -> Door:
    """A door whose rows torch compares, on a device that draws its own permutations."""
    single = SINGLE if device == "cpu" else HALVES
    return _door(f"{name} on {device}", hold, *asking, needs="torch", rounding=_OWN_DRAWS, single=single, **rest)


ON_DEVICES = tuple(
    door
    for device in devices()
    for door in (
        _device_door(
            "tensors", partial(as_tensors, device=device), device, lacks=_WITHOUT_ORDER | _ON_DEVICE, is_key=True
        ),
        _device_door(
            "frame",
            as_pandas,
            device,
            partial(asked_on_device, device=device),
            lacks={need: said for need, said in _ON_DEVICE.items() if need != "wide numbers beside floats"},
        ),
        _device_door(
            "tensor", partial(as_tensor, device=device), device, lacks=_ARRAY | _ON_DEVICE, has_names=False, is_key=True
        ),
    )
)
PAIR_BY_PAIR = _door("pair by pair", lambda table: table, asked_by_pairs, is_key=True)
BY_PAIRS = (
    PAIR_BY_PAIR,
    *(
        _door(
            f"pair by pair on {device}",
            lambda table: table,
            partial(asked_by_pairs, device=device),
            needs="torch",
            is_key=True,
            rounding=_OWN_DRAWS,
        )
        for device in devices()
    ),
)
STRONGEST = _door("strongest pairs", as_dict, asked_for_the_strongest, lacks=_WITHOUT_ORDER)
DOORS = (*IN_MEMORY, *BATCHES, *ON_DEVICES, *BY_PAIRS)
