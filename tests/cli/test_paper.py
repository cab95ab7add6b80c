"""`renyi demo`, `renyi gallery` and `renyi reproduce`: what they print and write."""

import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from command_line import python, run
from renyi.cli import app
from renyi.errors import InputError
from small_experiments import results


def test_demo_shows_what_pearson_misses():
    done = run("demo")
    assert done.stdout.count("nonlinear") == 5  # four lines, and the legend
    assert "renyi found 5 of them and 0 others" in " ".join(done.stdout.split())
    assert done.stdout.rstrip().endswith("finds 1.")


@pytest.mark.slow
def test_gallery_prints_the_table_and_draws_the_picture(tmp_path):
    picture = tmp_path / "demo.png"
    run = subprocess.run(
        [sys.executable, "-m", "renyi", "gallery", "--picture", str(picture), "-n", "300"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.count("normal, ρ") == 7
    assert "four clusters" in run.stdout
    assert max(len(line.rstrip()) for line in run.stdout.splitlines()[:20]) <= 80
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_command_that_cannot_write_says_so_in_one_line(tmp_path):
    target = tmp_path / "nowhere" / "demo.png"
    run = python(f"import sys; sys.argv = ['renyi', 'gallery', '--picture', {str(target)!r}]\n"
                 "from renyi.__main__ import main; main()")  # fmt: skip
    assert run.returncode == 2
    assert run.stderr.startswith("renyi: ")
    assert run.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("picture", ["demo.xyz", "demo"])
def test_command_that_cannot_draw_says_so_before_any_work(picture, tmp_path):
    run = python(f"import sys; sys.argv = ['renyi', 'gallery', '--picture', {picture!r}]\n"
                 "from renyi.__main__ import main; main()", cwd=tmp_path)  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"renyi: {picture} does not name a kind of picture")


@pytest.mark.slow
def test_output_survives_a_narrow_alphabet(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "renyi", "gallery", "--picture", str(tmp_path / "a.png"), "-n", "100"],
        capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert run.returncode == 0
    assert b"normal, ? = 0.8" in run.stdout


@pytest.mark.slow
def test_the_command_writes_and_tells(tmp_path):
    arguments = ["reproduce", "gallery", "--quick", "--measures", "pearson", "--jobs", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "pearson" in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["gallery-quick.json", "gallery-quick.md", "gallery-quick.png"]
    (tmp_path / "gallery-quick.png").unlink()
    before = (tmp_path / "gallery-quick.json").read_text()
    drawn = CliRunner().invoke(app, ["reproduce", "gallery", "--quick", "--out", str(tmp_path), "--draw-only"])
    assert drawn.exit_code == 0
    assert (tmp_path / "gallery-quick.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "gallery-quick.json").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["powr"], "no experiment 'powr': choose one of power, times, gallery, selection"),
        (["power", "--measures", "person"], "no such measure"),
        (["power", "--data", "."], "makes its own data"),
        (["power", "--draw-only"], "nothing to draw"),
        (["times", "--jobs", "2"], "would disturb the times"),
        (["selection", "--data", "nowhere"], "data=nowhere is not a folder"),
        (["power", "--measures", ","], "measures names none: choose from pearson"),
        (["gallery", "--measures", " "], "measures names none: choose from pearson"),
        (["selection", "--measures", ","], "measures names none: choose from cca"),
        (["power", "--draw-only", "--measures", "rdc"], "whatever --measures would be: leave it out"),
        (["power", "--draw-only", "--seed", "3", "--jobs", "2"], "whatever --jobs and --seed would be"),
    ],
)
def test_what_cannot_be_met_is_refused(arguments, message, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        done = subprocess.run(
            [sys.executable, "-m", "renyi", "reproduce", "power", "--out", str(out)],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"renyi: --out {out} cannot be written to")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_ctrl_c_leaves_results_to_go_on_with(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "renyi", "reproduce", "power", "--measures", "pearson", "--out", str(tmp_path)],
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "power.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # a terminal tells all processes of the group
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == b""
    assert 0 < len(results(tmp_path / "power.json")) < 420
    assert os.listdir(tmp_path) == ["power.json"]
