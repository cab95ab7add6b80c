import os
import resource
import subprocess
import sys
from unittest import mock

import pytest

from renyi.compute import memory

# Pages that a process asks for anew while it makes and drops arrays of 1 MB, as in the passes over partitions: before
# and within; and pages that it holds in the end beyond those at the beginning, after it had 200 such arrays at once.
PROGRAM = """
import resource
import numpy as np
from renyi.compute.memory import memory_kept

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

pytestmark = pytest.mark.skipif(memory._glibc() is None, reason="another allocator than glibc's")


def pages(environment):
    others = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=others | environment, check=True, capture_output=True, text=True)
    return [int(count) for count in done.stdout.split()]


def test_memory_is_kept_while_work_needs_it_and_given_back_after():
    before, within, left = pages({"MALLOC_TRIM_THRESHOLD_": "65536"})
    # Three arrays of 1 MB, a hundred times.
    all_pages = 300 * 2**20 // resource.getpagesize()
    assert before > 0.25 * all_pages
    assert within < 0.03 * all_pages
    assert left < 0.03 * all_pages


@pytest.mark.parametrize("asked", [None, "much"])
def test_nothing_is_done_where_nothing_was_asked_for(monkeypatch, asked):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if asked is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", asked)
    touched = []
    monkeypatch.setattr(memory, "_glibc", lambda: touched.append("the allocator"))
    with memory.memory_kept:
        pass
    assert not touched


def test_what_was_asked_for_is_asked_for_again_by_the_last_task_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    glibc = mock.Mock()
    monkeypatch.setattr(memory, "_glibc", lambda: glibc)
    with memory.memory_kept:
        begun = glibc.mock_calls.copy()
        with memory.memory_kept:
            pass
        assert glibc.mock_calls == begun
    # Numbers of M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, and the default of the latter.
    assert glibc.mock_calls[len(begun) :] == [
        mock.call.mallopt(-1, 65536),
        mock.call.mallopt(-3, 131072),
        mock.call.malloc_trim(0),
    ]
