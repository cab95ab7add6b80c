"""Tables, permutations and selection on a GPU: agreement with NumPy, times beside what the card can do, and where they
go.

`python benchmarks gpu` takes about six minutes on a large card and writes results/gpu.json, with the day of every part;
a part that fails says so in its place. `--device cpu --small` runs all of it in a minute where there is no card.
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
from datetime import date
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import renyi
from gpu_stages import shares
from renyi.compute.devices import as_numbers, as_operand, multiplied, paired
from renyi.compute.threads import available_cores
from renyi.inference.permutation import orders_on_device
from renyi.selection.candidates import as_candidates
from renyi.selection.forward import ByGain, Step, forward
from renyi.selection.gain import Gains
from renyi.selection.inputs import read_features, read_target

# Columns and rows of complete tables.
SIZES = {"wide": (10_000, 10_000), "long": (1000, 1_000_000), "genes": (20_000, 500), "middle": (5000, 100_000)}
# Correlations of pairs.
STRENGTHS = (0.05, 0.1, 0.2, 0.4, 0.7, 0.9, 0.97, 0.99, 0.997, 0.999, 0.9999)
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
        pair = as_operand(x)
        found["product of two halves, TFLOPS"] = (
            2 * m**3 / 1e12 / min(self.seconds(lambda: multiplied(*paired(pair, pair))))
        )
        if self.is_cuda:
            half = x.half()
            one = min(self.seconds(lambda: torch.mm(half, half.T, out_dtype=torch.float32)))
            found["product of float16 into float32, TFLOPS"] = 2 * m**3 / 1e12 / one
        return found

    def sorting(self) -> dict[str, Any]:
        found = {}
        for n_columns, n_rows in SIZES.values():
            shape = self.size(n_columns, 50), self.size(n_rows, 2000)
            for dtype in (torch.float32, torch.float64):
                if dtype == torch.float64 and n_rows != 10_000:
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
            if by_numpy.n_permuted:
                is_there &= both[0] < 1e-3
            differences: dict[str, Any] = {
                name: float(np.nanmax(np.abs(getattr(by_numpy, name) - getattr(by_torch, name))))
                for name in ("values", "debiased", "pearson", "spearman")
            }
            logs = np.abs(np.log(both[0][is_there]) - np.log(both[1][is_there]))
            differences["log p"] = float(logs.max())
            differences["p"] = float(np.abs(both[0] - both[1])[is_there].max())
            differences["permuted"] = [by_numpy.n_permuted, by_torch.n_permuted]
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

    def strengths(self) -> dict[str, Any]:
        """How far log p is off, by the strength of pairs: as a share of it from 1 on, beside products in float64.

        Of float32 tensors with and without gaps, and of the same numbers by NumPy where these are few.
        """
        found: dict[str, Any] = {}
        sizes = ((10_000, 700), (100_000, 700), (1_000_000, 300))
        for n, d in ((5000, 40),) if self.small else sizes:
            values = self.normal(d, n).contiguous()
            places = np.arange(0, d - 1, 2)
            for k, strength in zip(places.tolist(), np.resize(STRENGTHS, len(places)).tolist(), strict=True):
                values[:, k + 1] = strength * values[:, k] + (1.0 - strength**2) ** 0.5 * values[:, k + 1]
            generator = torch.Generator(self.device).manual_seed(1)
            gaps = values.clone()
            gaps[torch.rand((n, d), device=self.device, generator=generator) < 0.1] = torch.nan
            for name, table in (("complete", values), ("gaps", gaps)):
                with patch("renyi.allpairs.device.groups.is_exact", lambda *_, **__: True):
                    exact = renyi.matrix(table)
                part = {name: _by_strength(renyi.matrix(table), exact)}
                if n < 50_000:
                    part[f"{name}, by NumPy"] = _by_strength(renyi.matrix(table.cpu().numpy()), exact)
                found.setdefault(f"{d} x {n}", {}).update(part)
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
                digits = as_operand(part.T.contiguous())
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

    def whole(self) -> dict[str, Any]:
        """Values and p-values of all pairs, of tensors on the device; a first run is apart, since it compiles."""
        found: dict[str, Any] = {}
        for name, (n_columns, n_rows) in SIZES.items():
            for dtype in (torch.float32, torch.float64) if name in ("wide", "long") else (torch.float32,):
                values = self.normal(self.size(n_columns, 300), self.size(n_rows, 2000), dtype)
                if self.is_cuda:
                    torch.cuda.empty_cache()
                    torch.cuda.reset_peak_memory_stats(self.device)
                first = self.seconds(partial(in_full, values), repeats=1, warm_up=False)
                part = {"seconds": self.seconds(partial(in_full, values), warm_up=False), "first": first}
                if self.is_cuda:
                    part["peak, GiB"] = torch.cuda.max_memory_allocated(self.device) / 2**30
                found.setdefault(name, {})[str(dtype).removeprefix("torch.")] = part
                del values
        return found

    def stages(self) -> dict[str, Any]:
        """Where the time of every table goes, as shares."""
        found = {}
        for n_columns, n_rows in SIZES.values():
            values = self.normal(self.size(n_columns, 300), self.size(n_rows, 2000))
            found[f"{n_columns} x {n_rows}"] = shares(partial(in_full, values), self.wait)
            del values
        tables = self.tables(self.size(3000, 40), self.size(10_000, 2000))
        for name in ("tensors with gaps", "frame with categories"):
            with patch("renyi.tables.api.device_of", lambda *_: self.device):
                found[f"3000 x 10000, {name}"] = shares(partial(in_full, tables[name]), self.wait)
        return found

    def permutations(self) -> dict[str, Any]:
        """A pair that no permutation reaches, so that all are drawn, beside the random orders alone."""
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

    def tables(self, d: int, n: int) -> dict[str, Any]:
        """Complete numbers as tensors and as a frame, with 10 % gaps, and with categories in a tenth of the columns."""
        import pandas as pd

        values = self.normal(d, n).contiguous()
        generator = torch.Generator(self.device).manual_seed(1)
        gaps = values.clone()
        gaps[torch.rand((n, d), device=self.device, generator=generator) < 0.1] = torch.nan
        frame = pd.DataFrame(values.cpu().numpy()).add_prefix("x")
        mixed = frame.copy()
        for name in frame.columns[::10]:
            codes = np.minimum(np.abs(frame[name].to_numpy()) * 4, 7).astype(int)
            mixed[name] = pd.Categorical.from_codes(codes, list("abcdefgh"))
        return {"tensors": values, "tensors with gaps": gaps, "frame": frame, "frame with categories": mixed}

    def kinds(self) -> dict[str, Any]:
        """Gaps and categories beside complete numbers of the same size and from the same place, and rows in memory.

        Tensors have 10 % gaps, frames of pandas categories of 8 levels in a tenth of their columns. "log p" and
        "values" are the largest differences from NumPy on the first columns, the former relative from 1 on.
        """
        found: dict[str, Any] = {}
        sizes = (1_000_000, 500), (100_000, 1000), (10_000, 3000)
        for n, d in ((5000, 30), (2000, 40)) if self.small else sizes:
            tables = self.tables(d, n)
            gaps, frame, mixed = (tables[name] for name in ("tensors with gaps", "frame", "frame with categories"))
            with patch("renyi.tables.api.device_of", lambda *_: self.device):
                part: dict[str, Any] = {
                    name: self.seconds(partial(in_full, table), repeats=2) for name, table in tables.items()
                }
                with patch("renyi.compute.devices._SHARE_OF_ROWS", 0.0):
                    part["frame, rows in memory"] = self.seconds(partial(in_full, frame), repeats=1, warm_up=False)
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


def _by_strength(found: Any, exact: Any) -> dict[str, dict[str, float]]:
    """Largest and root mean square differences of log p and of coefficients, by the coefficient."""
    known, edges = exact.values, (0.0, *STRENGTHS, 1.0)
    logs = [side._laid_out("log_pvalues", np.nan) for side in (found, exact)]
    apart = np.abs(logs[0] - logs[1]) / np.maximum(1.0, np.abs(logs[1]))
    told = {}
    for low, high in pairwise(edges):
        is_here = (known >= low) & (known < high) & np.isfinite(apart)
        if is_here.any():
            told[f"{low} to {high}"] = {
                "pairs": int(is_here.sum()) // 2,
                "log p": float(apart[is_here].max()),
                "log p, root mean square": float(np.sqrt(np.mean(apart[is_here] ** 2))),
                "coefficient": float(np.abs(found.values - known)[is_here].max()),
            }
    return told


def chosen(X: Any, y: Any, device: Any, *, pairs: bool = True) -> list[Step]:
    """What `RDCSelector(n_features_to_select=10, n_jobs=-1)` chooses, without scikit-learn, which may not be there."""
    names, columns, _ = read_features(X, None)
    n_threads = available_cores()
    candidates = as_candidates(list(columns.values()), n_threads=n_threads, device=device)
    gains = Gains(candidates, read_target(y, "auto"), n_threads=n_threads, device=device)
    return forward(ByGain(gains, pairs=pairs), names, range(len(names)), most=10, alpha=0.01, stops=False)[0]


PARTS = (
    *("machine", "agreement", "strengths", "rates", "sorting", "accuracy_of_products"),
    *("whole", "stages", "kinds", "permutations", "screening", "selection", "full"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--parts", nargs="*", default=PARTS)
    overrides = parser.parse_args()
    bench = Bench(overrides.device, small=overrides.small)
    # Parts that are not run stay as they were.
    is_partial = set(overrides.parts) < set(PARTS) and overrides.out.exists()
    found = json.loads(overrides.out.read_text()) if is_partial else {}
    for name in overrides.parts:
        start = time.perf_counter()
        try:
            found[name] = getattr(bench, name)()
        except Exception:
            found[name] = {"error": traceback.format_exc().splitlines()[-12:]}
        if bench.is_cuda:
            torch.cuda.empty_cache()
        # Of parts that are older, or were made before this was written down, it says so or nothing.
        found.setdefault("made on", {})[name] = date.today().isoformat()
        print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        overrides.out.parent.mkdir(parents=True, exist_ok=True)
        overrides.out.write_text(json.dumps(found, indent=1) + "\n")
        print(json.dumps({name: found[name]}, indent=1), flush=True)


if __name__ == "__main__":
    main()
