import os
import subprocess
import sys

import pytest

import renyi
from renyi.errors import InputError
from renyi.experiments.locks import locked

HOLDER = """
import sys, time
from pathlib import Path
from renyi.experiments.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_two_runs_do_not_share_results(tmp_path):
    path = tmp_path / "gallery-quick.json"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match=rf"written by another run \(process {holder.pid}\): wait"):
            renyi.experiments.run_experiment("gallery", tmp_path, quick=True, measures=["pearson"], jobs=1)
        assert not path.exists()
        with locked(tmp_path / "power.json"):  # another experiment is no matter
            pass
    finally:
        holder.kill()
        holder.communicate()
    # Nobody could tidy up behind a process that was killed, and its lock is gone all the same.
    assert (tmp_path / ".gallery-quick.lock").exists()
    renyi.experiments.run_experiment("gallery", tmp_path, quick=True, measures=["pearson"], jobs=1)
    assert sorted(os.listdir(tmp_path)) == ["gallery-quick.json", "gallery-quick.md", "gallery-quick.png"]


def test_a_lock_is_free_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(KeyError), locked(tmp_path / "a.json"):
            raise KeyError
    assert os.listdir(tmp_path) == []
