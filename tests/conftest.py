import os
import signal
import sysconfig
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import settings

import renyi

matplotlib.use("agg")

# No deadlines, since other work on the machine would break them; the same examples everywhere.
settings.register_profile("renyi", deadline=None, derandomize=True)
settings.load_profile("renyi")


@pytest.fixture
def rng():
    return np.random.default_rng(20131205)


@pytest.fixture
def in_batches(monkeypatch):
    """However few rows a stream has, it is read in batches."""
    monkeypatch.setattr("renyi.data.files.budget._COPIES", 2**40)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells let what runs in the background ignore interruptions, which some tests send; processes inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("RENYI_WHEEL") == "require" and not Path(renyi.__file__).is_relative_to(
    sysconfig.get_path("purelib")
):
    pytest.exit(f"the tests are to run against an installed wheel, and import {renyi.__file__}", returncode=4)
