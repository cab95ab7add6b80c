import os

import pytest

from renyi.errors import InputError
from renyi.report.files import check_writable, written_whole


def test_a_file_is_left_alone_when_writing_fails(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), written_whole(target) as part:
        part.write_text("ä", encoding="ascii")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]
    with written_whole(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


def test_devices_and_links_stay_what_they_are(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    os.mkfifo(tmp_path / "pipe")
    with written_whole(tmp_path / "link.csv") as part:
        part.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"
    with written_whole(tmp_path / "pipe") as part:
        assert part == tmp_path / "pipe"
    assert (tmp_path / "pipe").is_fifo()


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "where.csv"):
        with pytest.raises(InputError, match=str(path)):
            check_writable(path)


def test_nobody_knows_the_name_of_what_is_not_whole_yet(tmp_path):
    names = set()
    for _ in range(2):
        with written_whole(tmp_path / "out.csv") as part:
            assert part.exists()
            names.add(part.name)
    assert len(names) == 2
    assert not any(str(os.getpid()) in name.removesuffix(".csv") and "out" in name for name in names)


def test_permissions_stay_and_are_kept_to(tmp_path):
    target = tmp_path / "out.csv"
    with written_whole(target) as part:
        part.write_text("new")
    (tmp_path / "plain.csv").touch()
    assert target.stat().st_mode == (tmp_path / "plain.csv").stat().st_mode
    target.chmod(0o640)
    with written_whole(target) as part:
        part.write_text("newer")
    assert target.stat().st_mode & 0o777 == 0o640
    target.chmod(0o440)
    with (
        pytest.raises(InputError, match=r"out\.csv is there and may not be written to: name another"),
        written_whole(target),
    ):
        pass
    assert target.read_text() == "newer"
