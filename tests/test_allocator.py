import os
import subprocess
import sys

import pytest

# Pages that a process asks for anew while it makes and drops arrays of 1 MB, as in the passes over partitions: before
# and within; and pages that it holds in the end beyond those at the beginning, after it had 200 such arrays at once.
PROGRAM = """
import contextlib, resource
import numpy as np
from renyi.execution.allocator import memory_kept

def fresh():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(2**17) + np.ones(2**17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def held():
    return int(open("/proc/self/statm").read().split()[1])

print(fresh())
at_first = held()
with memory_kept:
    with memory_kept:
        arrays = [np.ones(2**17) for _ in range(200)]
        pins = [np.ones(10) for _ in range(200)]
        del arrays
    print(fresh())
print(held() - at_first)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="an allocator of Linux")


def pages(**environment):
    others = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=others | environment, check=True, capture_output=True, text=True)
    return [int(count) for count in done.stdout.split()]


def test_memory_is_kept_while_work_needs_it_and_given_back_after():
    before, within, left = pages(MALLOC_TRIM_THRESHOLD_="65536")
    assert before > 20_000
    assert within < 2_000
    assert left < 2_000


@pytest.mark.parametrize("asked", [{}, {"MALLOC_TRIM_THRESHOLD_": "much"}])
def test_nothing_is_done_where_nothing_was_asked_for(asked):
    before, within, _ = pages(**asked)
    assert abs(before - within) < 2_000
