"""What every benchmark shares: timing in turns, peak memory in a fresh process, and a record of the machine."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import renyi

RESULTS = Path(__file__).parent / "results"


def best_times(calls: dict[str, Callable[[], object]], *, seconds: float = 2.0, least: int = 3) -> dict[str, float]:
    """Best time of each call in seconds; calls take turns, so that a noisy moment hits all of them."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    start, rounds = time.perf_counter(), 0
    while rounds < least or time.perf_counter() - start < seconds:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
        rounds += 1
    return best


# The kernel's peak of this process alone: getrusage would hand down that of the process which started it.
_MEMORY = """
import re, numpy as np, renyi
def kilobytes(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
renyi.rdc(np.arange(50.0), np.arange(50.0))
rng = np.random.default_rng(0)
{prepare}
before = kilobytes("VmRSS")
{call}
print((kilobytes("VmHWM") - before) * 1024)
"""


def extra_memory(prepare: str, call: str) -> int:
    """Bytes by which `call` raises the peak memory of a process that holds what `prepare` made."""
    return int(run_python(_MEMORY.format(prepare=prepare, call=call)))


def run_python(program: str) -> str:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout


def record(name: str, results: dict[str, Any], *libraries: str) -> None:
    """Write results as JSON, with the versions and the machine they were seen on."""
    RESULTS.mkdir(exist_ok=True)
    written = {
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {
            "python": platform.python_version(),
            "renyi": renyi.__version__,  # also where the package is on the path and not installed
            **{name: version(name) for name in libraries},
        },
        "results": results,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
