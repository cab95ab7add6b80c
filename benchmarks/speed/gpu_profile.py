"""Which kernels and which Python functions take the time of tables on a GPU; it writes nothing.

`python benchmarks gpu_profile` prints, for tables of numbers with and without gaps, seconds, shares by stage, and the
longest kernels and functions. `--device cpu --small` tries it where there is no card.
"""

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gpu import Bench, in_full
from gpu_stages import shares

# Rows, columns, and whether a tenth of the cells are missing.
TABLES = {
    "500 x 1000000, gaps": (1_000_000, 500, True),
    "1000 x 100000, gaps": (100_000, 1000, True),
    "3000 x 10000, gaps": (10_000, 3000, True),
    "500 x 1000000": (1_000_000, 500, False),
    "1000 x 100000": (100_000, 1000, False),
    "3000 x 10000": (10_000, 3000, False),
    "1000 x 1000000": (1_000_000, 1000, False),
    "10000 x 10000": (10_000, 10_000, False),
}


def kernels(work: Callable[[], object], bench: Bench) -> None:
    """Print the kernels that take longest, and how long the card is busy."""
    activity = torch.profiler.ProfilerActivity.CUDA if bench.is_cuda else torch.profiler.ProfilerActivity.CPU
    with torch.profiler.profile(activities=[activity]) as profile:
        work()
        bench.wait()
    own = "self_device_time_total" if bench.is_cuda else "self_cpu_time_total"
    found = sorted(profile.key_averages(), key=lambda event: -getattr(event, own))
    print(f"  busy {sum(getattr(event, own) for event in found) / 1e6:.3f} s, {sum(e.count for e in found)} launches")
    for event in found[:18]:
        print(f"  {getattr(event, own) / 1e3:8.1f} ms {event.count:6d} x {event.key[:110]}")


def functions(work: Callable[[], object]) -> None:
    """Print the Python functions that take longest by themselves."""
    profile = cProfile.Profile()
    profile.runcall(work)
    found: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    longest = sorted(found.items(), key=lambda item: -item[1][2])[:16]
    for (file, line, name), (calls, _, own, whole, _) in longest:
        print(f"  {own * 1e3:8.1f} ms of {whole * 1e3:8.1f} {calls:7d} x {file.split('renyi/')[-1]}:{line} {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    overrides = parser.parse_args()
    bench = Bench(overrides.device, small=overrides.small)
    for name in overrides.tables:
        n, d, has_gaps = TABLES[name]
        values = bench.normal(bench.size(d, 40), bench.size(n, 5000)).contiguous()
        if has_gaps:
            generator = torch.Generator(bench.device).manual_seed(1)
            values[torch.rand(values.shape, device=bench.device, generator=generator) < 0.1] = torch.nan
        work, start = partial(in_full, values), time.perf_counter()
        seconds = bench.seconds(work)
        print(f"{name}: {', '.join(f'{one:.3f}' for one in seconds)} s", flush=True)
        for stage, share in shares(work, bench.wait).items():
            print(f"  {stage}: {share:.3f}")
        kernels(work, bench)
        functions(work)
        print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)
        del values, work
        if bench.is_cuda:
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
