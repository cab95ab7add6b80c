"""What all commands share, `commands` and `terminal`: refusals in one line, exit codes, how they end."""

import os
import signal
import subprocess
import sys

import pytest

from command_line import command, python, refused
from renyi.cli import terminal


@pytest.mark.slow
def test_bad_usage_is_one_line(file, tmp_path):
    assert "did you mean 'square'" in refused("scan", file, "--target", "sqare")
    assert "--target" in refused("scan", file, "--given", "x")
    assert "--fdr must be a number above 0, at most 1, got 0" in refused("scan", file, "--fdr", "0")
    assert "--measure mic, which ranks pairs without testing" in refused(
        "scan", file, "--measure", "mic", "--fdr", "0.1"
    )
    assert "there is no measure 'rcd': did you mean 'rdc'?" in refused("scan", file, "--measure", "rcd")
    assert "--nonsense" in refused("scan", file, "--nonsense")
    assert "FILE" in refused("scan")
    assert "its folder does not exist" in refused("scan", file, "--csv", tmp_path / "no" / "a.csv")
    assert "separator" in refused("scan", file, "--sep", "ab")


@pytest.mark.slow
def test_messages_name_options_and_not_arguments(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,2\n,3\n4,5\n2,1\n")
    assert "--missing pairwise or --missing listwise" in refused("scan", path, "--missing", "raise")
    path.write_text("a,b\n1,2\n1,3\n1,5\n1,1\n")
    assert "--type name=category" in refused("scan", path)


@pytest.mark.slow
def test_a_closed_standard_input_is_told():
    done = subprocess.run(
        [sys.executable, "-m", "renyi", "scan", "-"], capture_output=True, check=False, preexec_fn=lambda: os.close(0)
    )
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


@pytest.mark.slow
def test_debug_shows_where_it_came_from(tmp_path):
    done = command("scan", tmp_path / "none.csv", "--debug")
    assert done.returncode == 2
    assert b"Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(b"renyi: ")


@pytest.mark.slow
@pytest.mark.parametrize("debug", [True, False])
def test_unexpected_failures(file, debug):
    program = (
        "import sys, renyi.tables.api\n"
        "def broken(*a, **k): raise ZeroDivisionError('two\\nlines')\n"
        "renyi.tables.api.matrix = broken\n"
        f"sys.argv = ['renyi', 'scan', {file!r}, *{['--debug'] * debug}]\n"
        "from renyi.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert ("Traceback" in done.stderr) == debug
    last = done.stderr.splitlines()[-1]
    assert last == "renyi: unexpected failure (ZeroDivisionError: two lines), run with --debug for the traceback"
    assert len(done.stderr.splitlines()) == 1 or debug


# Other ends.


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "--csv -", "--json"])
def test_a_reader_that_stops_is_no_failure(file, options):
    done = subprocess.run(
        f"{sys.executable} -m renyi scan {file} {options} | true", shell=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_interruption_is_quiet():
    process = subprocess.Popen(
        [sys.executable, "-m", "renyi", "scan", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # More than a pipe holds: it has begun to read when all of this is written, and then waits for the rest.
    process.stdin.write(b"a,b\n" + b"1,2\n" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_bare_command_shows_help():
    done = command()
    assert done.returncode == 0
    assert b"Usage: renyi" in done.stdout
    assert all(name in done.stdout for name in (b"scan", b"pair", b"demo", b"gallery"))
    assert command("--version").stdout.startswith(b"renyi 0.")


def test_names_of_files_do_not_reach_the_terminal_as_codes(tmp_path, capsys):
    odd = tmp_path / "odd\x1b[31m.csv"
    assert "odd\u241b[31m.csv stands for no file" in refused(
        "pair", odd, "x", "y", env=os.environ | {"PYTHONUTF8": "1"}
    )
    terminal.say(f"Report: {odd.name}", terminal.console_of())
    assert capsys.readouterr().out == "Report: odd\u241b[31m.csv\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_no_temporary_folder(number, tmp_path):
    rows, folder = tmp_path / "rows.csv", tmp_path / "temporary"
    rows.write_text("a,b\n" + "1,2\n" * 50_000)
    folder.mkdir()
    # Under nohup SIGHUP is ignored, by the command as well, which is right: here it is heard wherever the tests run.
    program = (
        "import os, signal, sys, time, renyi.data.files.batches as batches\n"
        f"signal.signal({int(number)}, signal.SIG_DFL)\n"
        "def converted(requests, folder, n_bytes):\n"
        "    (folder / 'part').touch()\n"
        f"    os.kill(os.getpid(), {number})\n"
        "    time.sleep(60)\n"
        "batches.converted = converted\n"
        f"sys.argv = ['renyi', 'scan', {str(rows)!r}, '--memory', '1MB']\n"
        "from renyi.__main__ import main; main()"
    )
    done = python(program, env=os.environ | {"TMPDIR": str(folder)}, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "")
    assert os.listdir(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [200, 200_000])
def test_a_reader_that_stops_leaves_no_copy_of_standard_input(size, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"{k * k % 97},{k % 101}\n" for k in range(size)))
    (tmp_path / "temporary").mkdir()
    reading, writing = os.pipe()
    os.close(reading)
    with (tmp_path / "rows.csv").open("rb") as rows:
        done = subprocess.run(
            [sys.executable, "-m", "renyi", "scan", "-", "--json", "--memory", "2MB", "--any-order"],
            stdin=rows, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60,
            env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
    assert os.listdir(tmp_path / "temporary") == []
