"""Tables, shuffles and selection on a GPU: agreement with NumPy, times beside what the card can do, and where they go.

`python benchmarks gpu` takes about five minutes on a large card and writes results/gpu.json; a part that fails says
so in its place. `--device cpu --small` runs all of it in a minute where there is no card.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import renyi
from renyi.allpairs.compare import SHUFFLES
from renyi.allpairs.compare import compare as compare_tile
from renyi.allpairs.complete import CompletePairs
from renyi.allpairs.device import compare, ranking, stack
from renyi.allpairs.device.groups import groups_on_device
from renyi.allpairs.device.reading import read_table
from renyi.allpairs.device.rows import RowsOnDevice
from renyi.allpairs.sums import Sums
from renyi.basis.random_features import DEFAULT_SCALE
from renyi.compute.arrays import gathered
from renyi.compute.devices import as_numbers, halves, multiplied, paired
from renyi.compute.threads import available_cores
from renyi.inference.multiscale import NestedProducts, family, largest_root
from renyi.inference.permutation import orders_on_device
from renyi.pair.settings import Settings
from renyi.selection.candidates import as_candidates
from renyi.selection.forward import ByGain, Step, forward
from renyi.selection.gain import Gains
from renyi.selection.inputs import read_features, read_target

RESULTS = Path(__file__).parents[1] / "results" / "gpu.json"


def in_full(table: Any) -> tuple[Any, Any]:
    """Values and p-values of all pairs, in memory."""
    found = renyi.matrix(table)
    return found.values, found.pvalues


class Bench:
    """Runs of all parts on one device."""

    def __init__(self, device: str, *, small: bool) -> None:
        self.device, self.small = torch.device(device), small
        self.is_cuda = self.device.type == "cuda"

    def size(self, full: int, small: int) -> int:
        return small if self.small else full

    def wait(self) -> None:
        if self.is_cuda:
            torch.cuda.synchronize(self.device)

    def seconds(self, work: Callable[[], object], *, repeats: int = 3, warm_up: bool = True) -> list[float]:
        if warm_up:
            work()
        found = []
        for _ in range(repeats):
            self.wait()
            start = time.perf_counter()
            work()
            self.wait()
            found.append(time.perf_counter() - start)
        return found

    def normal(self, n_columns: int, n_rows: int, dtype: torch.dtype = torch.float32) -> Any:
        """Independent columns as rows of a matrix, some made to depend on others."""
        generator = torch.Generator(self.device).manual_seed(0)
        values = torch.randn((n_columns, n_rows), dtype=dtype, device=self.device, generator=generator)
        values[1] += values[0]
        values[2] = values[0] ** 2 + 0.1 * values[2]
        return values.T

    # Parts.

    def machine(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "renyi": renyi.__version__,
            "cores": os.cpu_count(),
        }
        if self.is_cuda:
            properties = torch.cuda.get_device_properties(self.device)
            query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
            found |= {
                "device": properties.name,
                "gibibytes": properties.total_memory / 2**30,
                "cuda": torch.version.cuda,
                "driver": subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip(),
            }
        return found

    def rates(self) -> dict[str, Any]:
        """What the card copies, multiplies, sorts and sends."""
        n, m = self.size(2**30, 2**22), self.size(16384, 256)
        numbers = torch.empty(n, dtype=torch.float32, device=self.device)
        found: dict[str, Any] = {"copy, GB/s": 8 * n / 1e9 / min(self.seconds(numbers.clone))}
        host = torch.empty(n // 4, dtype=torch.float32)
        part = numbers[: n // 4]
        found["to the host, GB/s"] = n / 1e9 / min(self.seconds(part.cpu))
        found["to the host again, GB/s"] = n / 1e9 / min(self.seconds(partial(host.copy_, part)))
        x = torch.randn((m, m), device=self.device)
        kinds = {"float64": x.double(), "float32": x}
        for name, y in kinds.items():
            found[f"product of {name}, TFLOPS"] = 2 * m**3 / 1e12 / min(self.seconds(partial(torch.mm, y, y.T)))
        pair = halves(x)
        found["product of two halves, TFLOPS"] = (
            2 * m**3 / 1e12 / min(self.seconds(lambda: multiplied(*paired(pair, pair))))
        )
        if self.is_cuda:
            half = pair[0]
            one = min(self.seconds(lambda: torch.mm(half, half.T, out_dtype=torch.float32)))
            found["product of float16 into float32, TFLOPS"] = 2 * m**3 / 1e12 / one
        return found

    def sorting(self) -> dict[str, Any]:
        found = {}
        for n_columns, n_rows in ((10_000, 10_000), (1000, 1_000_000)):
            shape = self.size(n_columns, 50), self.size(n_rows, 2000)
            for dtype in (torch.float32, torch.float64):
                if dtype == torch.float64 and n_rows > 10_000:
                    continue
                values = torch.randn(shape, dtype=dtype, device=self.device)
                found[f"{shape[0]} x {shape[1]} {dtype}"] = self.seconds(partial(torch.sort, values, dim=1))
                del values
        return found

    def agreement(self) -> dict[str, Any]:
        """Largest differences from NumPy's numbers, and in how far p-values agree.

        Tables are narrow and wide, since the products of many columns with themselves are made in strips.
        """
        rng = np.random.default_rng(1)
        found = {}
        for n_rows, n_columns, kind in (
            (40, 12, "float64"),
            (2000, 60, "float64"),
            (2000, 700, "float64"),
            (10_000, 700, "float32"),
            (10_000, 120, "float64"),
            (10_000, 120, "float32"),
            (self.size(200_000, 40_000), 16, "float64"),
            (self.size(200_000, 40_000), 16, "float32"),
        ):
            values = rng.standard_normal((n_rows, n_columns)).astype(kind)
            values[:, 1] += values[:, 0]
            values[:, 2] = values[:, 0] ** 2 + 0.1 * values[:, 2]
            values[:, 3] = values[:, 4]
            values[:, 5] = np.round(3 * values[:, 5])
            values[:, 6] = np.where(values[:, 7] > 0, values[:, 7], 0.0)
            values[:, 8] = np.sin(20 * values[:, 9])
            by_numpy, by_torch = renyi.matrix(values), renyi.matrix(torch.as_tensor(values, device=self.device))
            both = by_numpy.pvalues, by_torch.pvalues
            is_there = (both[0] > 1e-290) & ~np.isnan(both[0])
            if by_numpy.n_shuffled:
                is_there &= both[0] < 1e-3
            differences: dict[str, Any] = {
                name: float(np.nanmax(np.abs(getattr(by_numpy, name) - getattr(by_torch, name))))
                for name in ("values", "debiased", "pearson", "spearman")
            }
            logs = np.abs(np.log(both[0][is_there]) - np.log(both[1][is_there]))
            differences["log p"] = float(logs.max())
            differences["p"] = float(np.abs(both[0] - both[1])[is_there].max())
            differences["shuffled"] = [by_numpy.n_shuffled, by_torch.n_shuffled]
            differences["copies"] = float(by_torch.values[3, 4])
            found[f"{n_rows} x {n_columns} {kind}"] = differences
        x, y = rng.standard_normal((2, 3000))
        y += 0.3 * x**2
        moved = [torch.as_tensor(side, device=self.device) for side in (x, y)]
        one, other = renyi.independence_test(x, y), renyi.independence_test(*moved)
        found["one pair"] = {
            "p by NumPy": one.pvalue,
            "p": other.pvalue,
            "difference": one.coefficient - other.coefficient,
        }
        return found

    def accuracy_of_products(self) -> dict[str, Any]:
        """Errors of mean products of a column with itself and of independent ones, by the rows of a chunk."""
        found = {}
        n = self.size(2**17, 2**13)
        x = torch.randn((64, n), device=self.device)
        exact = (x.double() @ x.double().T) / n
        for rows in (4096, 8192, 16384, n):
            total = torch.zeros((64, 64), dtype=torch.float64, device=self.device)
            single = total.clone()
            for part in x.split(rows, dim=1):
                digits = halves(part.T.contiguous())
                total += multiplied(*paired(digits, digits))
                leading = part.half()
                if self.is_cuda:
                    single += torch.mm(leading, leading.T, out_dtype=torch.float32)
            off = ~torch.eye(64, dtype=torch.bool, device=self.device)
            found[str(rows)] = {
                "with itself": float((total / n - exact).diagonal().abs().max()),
                "independent": float((total / n - exact)[off].abs().max()),
                "leading halves alone, with itself": float((single / n - exact).diagonal().abs().max()),
                "leading halves alone, independent": float((single / n - exact)[off].abs().max()),
            }
        return found

    def whole(self, n_columns: int, n_rows: int, dtype: torch.dtype, *, repeats: int) -> dict[str, Any]:
        """Values and p-values of all pairs."""
        values = self.normal(n_columns, n_rows, dtype)

        def work() -> None:
            found = renyi.matrix(values)
            _ = found.values, found.pvalues

        if self.is_cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)
        seconds = self.seconds(work, repeats=repeats)
        found: dict[str, Any] = {"seconds": seconds}
        if self.is_cuda:
            found["peak, GiB"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        return found

    def wide(self) -> dict[str, Any]:
        shape = self.size(10_000, 300), self.size(10_000, 5000)
        return {
            "float32": self.whole(*shape, torch.float32, repeats=3),
            "float64": self.whole(*shape, torch.float64, repeats=2),
        }

    def long(self) -> dict[str, Any]:
        shape = self.size(1000, 20), self.size(1_000_000, 50_000)
        found = {"float32": self.whole(*shape, torch.float32, repeats=3)}
        if self.is_cuda:
            torch.cuda.empty_cache()
        return found | {"float64": self.whole(*shape, torch.float64, repeats=2)}

    def stages(self) -> dict[str, Any]:
        """Where the time of a wide table goes: ranks, and one tile."""
        values = self.normal(self.size(10_000, 300), self.size(10_000, 5000))
        settings = Settings(None, DEFAULT_SCALE, "auto")
        seconds: dict[str, Any] = {}

        def timed(name: str, work: Callable[[], Any]) -> Any:
            outcome = work()
            self.wait()
            start = time.perf_counter()
            outcome = work()
            self.wait()
            seconds[name] = time.perf_counter() - start
            return outcome

        table = timed("reading", lambda: read_table(values, self.device))
        ranked = timed("ranks", lambda: ranking.ranked(table, settings))
        groups = timed("groups", lambda: groups_on_device(ranked, has_gaps=False))
        group = max(groups, key=lambda group: len(group.positions))
        seconds["columns with ties"] = len(ranked.variables) - len(group.positions)
        most = min(compare._MOST_COLUMNS, len(group.positions) // 2)
        x, y = group.part(slice(0, most)), group.part(slice(most, 2 * most))
        seconds["columns of the tile"] = most
        timed("functions of one chunk", lambda: x.coefficient.operand(slice(0, min(x.n_rows, stack._MOST_ROWS))))
        timed("products of the coefficient", lambda: x.coefficient.products(y.coefficient))
        timed("products of the coefficient, diagonal", lambda: x.coefficient.products(x.coefficient))
        timed("products of values", lambda: x.values.products(y.values))
        sums = timed("all products", lambda: Sums.of(x, y))
        i, j = (k.ravel() for k in torch.meshgrid(*(torch.arange(most, device=self.device),) * 2, indexing="ij"))
        cross = timed("what is taken of the sums", lambda: gathered(sums.coefficient, i, j) / x.n_rows)
        timed("largest root, 8 x 8", lambda: largest_root(cross))
        timed("largest root, 8 x 8, float64", lambda: largest_root(cross.double()))
        nested = NestedProducts(*(gathered(part, i, j) / x.n_rows for part in sums.nested))
        timed("roots of all blocks", lambda: nested.roots(family(x.scales, y.scales)))
        timed("pairs from sums", lambda: CompletePairs(x, y, i, j, sums))
        rows = RowsOnDevice()
        timed("the tile", lambda: compare_tile(x, y, rows, SHUFFLES))
        timed("the tile, diagonal", lambda: compare_tile(x, x, rows, SHUFFLES))
        if self.is_cuda:
            # cuSOLVER refuses larger batches.
            sample = torch.randn((20_000, 8, 8), device=self.device)
            gram = sample @ sample.mT
            timed("torch.linalg.eigvalsh of 20,000", lambda: torch.linalg.eigvalsh(gram))
            planes = sample.movedim(0, -1).contiguous().movedim(-1, 0)
            timed("largest root of 20,000", lambda: largest_root(planes))
        return seconds

    def profile(self) -> Any:
        """The operations that take most of a wide table."""
        from torch.profiler import ProfilerActivity, profile

        values = self.normal(self.size(10_000, 200), self.size(10_000, 5000))
        kinds = [ProfilerActivity.CUDA] if self.is_cuda else [ProfilerActivity.CPU]
        with profile(activities=kinds) as seen:
            renyi.matrix(values)
            self.wait()
        key = "self_cuda_time_total" if self.is_cuda else "self_cpu_time_total"
        return seen.key_averages().table(sort_by=key, row_limit=40, max_name_column_width=90).splitlines()

    def shuffles(self) -> dict[str, Any]:
        """A pair that no shuffle reaches, so that all are drawn, beside the random orders alone."""
        n, n_resamples = self.size(10_000, 500), self.size(100_000, 3000)
        values = self.normal(3, n)
        x, y = values[:, 0].contiguous(), values[:, 1].contiguous()
        found: dict[str, Any] = {
            "seconds": self.seconds(
                lambda: renyi.independence_test(x, y, method="permutation", n_resamples=n_resamples), repeats=2
            )
        }
        test = renyi.independence_test(x, y, method="permutation", n_resamples=n_resamples)
        found |= {"drawn": test.n_resamples, "p": test.pvalue}
        generator = torch.Generator(self.device).manual_seed(0)
        batch = self.size(10_000, 500)

        def orders() -> None:
            for _ in range(n_resamples // batch):
                orders_on_device(n, batch, generator)

        found["random orders alone"] = self.seconds(orders, repeats=2)
        few = self.size(2000, 500)
        host = x.cpu().numpy(), y.cpu().numpy()
        start = time.perf_counter()
        renyi.independence_test(*host, method="permutation", n_resamples=few)
        found["by NumPy, from fewer"] = (time.perf_counter() - start) * n_resamples / few
        return found

    def kinds(self) -> dict[str, Any]:
        """Gaps and categories beside complete numbers of the same size and from the same place, and rows in memory.

        Tensors have 10 % gaps, frames of pandas categories of 8 levels in a tenth of their columns. "log p" and
        "values" are the largest differences from NumPy on the first columns, the former relative from 1 on.
        """
        import pandas as pd

        found: dict[str, Any] = {}
        sizes = (1_000_000, 500), (100_000, 1000), (10_000, 3000)
        for n, d in ((5000, 30), (2000, 40)) if self.small else sizes:
            values = self.normal(d, n).contiguous()
            generator = torch.Generator(self.device).manual_seed(1)
            gaps = values.clone()
            gaps[torch.rand((n, d), device=self.device, generator=generator) < 0.1] = torch.nan
            frame = pd.DataFrame(values.cpu().numpy()).add_prefix("x")
            mixed = frame.copy()
            for name in frame.columns[::10]:
                codes = np.minimum(np.abs(frame[name].to_numpy()) * 4, 7).astype(int)
                mixed[name] = pd.Categorical.from_codes(codes, list("abcdefgh"))
            with patch("renyi.tables.api.device_of", lambda *_: self.device):
                tables = {"tensors": values, "tensors with gaps": gaps, "frame": frame, "frame with categories": mixed}
                part: dict[str, Any] = {
                    name: self.seconds(partial(in_full, table), repeats=2) for name, table in tables.items()
                }
                with patch("renyi.compute.devices._SHARE_OF_ROWS", 0.0):
                    part["frame, rows in memory"] = self.seconds(partial(in_full, frame), repeats=1)
                few = slice(0, 12)
                shown = renyi.matrix(gaps[:, few]), renyi.matrix(mixed.iloc[:, few])
            expected = renyi.matrix(gaps[:, few].cpu().numpy()), renyi.matrix(mixed.iloc[:, few])
            for name, one, other in zip(("gaps", "categories"), shown, expected, strict=True):
                logs = [side._laid_out("log_pvalues", np.nan) for side in (one, other)]
                apart = np.abs(logs[0] - logs[1]) / np.maximum(1.0, np.abs(logs[1]))
                part[f"log p, {name}"] = float(np.nanmax(apart))
                part[f"values, {name}"] = float(np.nanmax(np.abs(one.values - other.values)))
            part["ratio with gaps"] = min(part["tensors with gaps"]) / min(part["tensors"])
            part["ratio with categories"] = min(part["frame with categories"]) / min(part["frame"])
            found[f"{d} x {n}"] = part
            print(part, flush=True)
        return found

    def screening(self) -> dict[str, Any]:
        values = self.normal(self.size(10_000, 100), self.size(10_000, 5000))
        return {"seconds": self.seconds(lambda: renyi.screen(values, "x0").pvalues)}

    def selection(self) -> dict[str, Any]:
        """Ten of many features, five of which say something, two of these by their product alone; float32.

        "seconds": tensors on the device; "without pairs": the same, with `pairs=False`; "from an array": features in
        memory; "by NumPy": all of it on the processor, once, with all cores. "same features" says whether NumPy chose
        the same in the same order, "log p" and "dependence" have the largest differences along the path, the former
        relative and of p-values above 1e-290, and "relevant first" says whether the five were the first.
        """
        n, n_features = self.size(100_000, 5000), self.size(2000, 60)
        X = self.normal(n_features, n).contiguous()
        generator = torch.Generator(self.device).manual_seed(1)
        noise = torch.randn(n, device=self.device, generator=generator)
        y = (X[:, 5] + torch.sin(2 * X[:, 6]) + X[:, 7] ** 2 + X[:, 8] * X[:, 9] + noise).cpu().numpy()
        host = X.cpu().numpy()
        if self.is_cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)
        found: dict[str, Any] = {"features": n_features, "rows": n}
        found["seconds"] = self.seconds(lambda: chosen(X, y, self.device), repeats=2)
        if self.is_cuda:
            found["peak, GiB"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        once = partial(self.seconds, repeats=1, warm_up=False)
        found["without pairs"] = once(lambda: chosen(X, y, self.device, pairs=False))
        found["from an array"] = once(lambda: chosen(as_numbers(host, self.device), y, self.device))
        paths = [chosen(X, y, self.device)]
        found["by NumPy"] = once(lambda: paths.append(chosen(host, y, None)))
        pairs = list(zip(*paths, strict=True))
        logs = [np.log((one.pvalue, other.pvalue)) for one, other in pairs if min(one.pvalue, other.pvalue) > 1e-290]
        return found | {
            "same features": all(one.feature == other.feature for one, other in pairs),
            "relevant first": {step.feature for step in paths[0][:5]} == {5, 6, 7, 8, 9},
            "log p": max(abs(float(one - other)) / max(abs(float(other)), 1e-12) for one, other in logs),
            "dependence": max(abs(one.dependence - other.dependence) for one, other in pairs),
        }

    def full(self) -> dict[str, Any]:
        """What a device does that has little room."""
        if not self.is_cuda:
            return {}
        torch.cuda.empty_cache()
        total = torch.cuda.get_device_properties(self.device).total_memory
        values = self.normal(3000, 5000)
        expected = renyi.matrix(values).values
        found: dict[str, Any] = {}
        taken = []
        try:
            for left in (4.0, 2.0, 0.5):
                torch.cuda.empty_cache()
                free, _ = torch.cuda.mem_get_info(self.device)
                taken.append(torch.empty(max(0, int(free - left * 2**30)), dtype=torch.uint8, device=self.device))
                start = time.perf_counter()
                try:
                    again = renyi.matrix(values).values
                    found[f"{left} GiB left of {total / 2**30:.0f}"] = {
                        "seconds": time.perf_counter() - start,
                        "difference": float(np.abs(again - expected).max()),
                    }
                except renyi.InputError as error:
                    found[f"{left} GiB left of {total / 2**30:.0f}"] = str(error)
        finally:
            taken.clear()
            torch.cuda.empty_cache()
        return found


def chosen(X: Any, y: Any, device: Any, *, pairs: bool = True) -> list[Step]:
    """What `RDCSelector(n_features_to_select=10, n_jobs=-1)` chooses, without scikit-learn, which may not be there."""
    names, columns, _ = read_features(X, None)
    n_threads = available_cores()
    candidates = as_candidates(list(columns.values()), n_threads=n_threads, device=device)
    gains = Gains(candidates, read_target(y, "auto"), n_threads=n_threads, device=device)
    return forward(ByGain(gains, pairs=pairs), names, range(len(names)), most=10, alpha=0.01, stops=False)[0]


PARTS = (
    *("machine", "agreement", "rates", "sorting", "accuracy_of_products"),
    *("stages", "wide", "long", "kinds", "shuffles", "screening", "selection", "full", "profile"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--parts", nargs="*", default=PARTS)
    overrides = parser.parse_args()
    bench, found = Bench(overrides.device, small=overrides.small), {}
    for name in overrides.parts:
        start = time.perf_counter()
        try:
            found[name] = getattr(bench, name)()
        except Exception:
            found[name] = {"error": traceback.format_exc().splitlines()[-12:]}
        if bench.is_cuda:
            torch.cuda.empty_cache()
        print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        overrides.out.parent.mkdir(parents=True, exist_ok=True)
        overrides.out.write_text(json.dumps(found, indent=1) + "\n")
        if name != "profile":
            print(json.dumps({name: found[name]}, indent=1), flush=True)


if __name__ == "__main__":
    main()
