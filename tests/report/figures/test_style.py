"""What figures share: which files they can be written to, and when they are let go."""

from pathlib import Path

import pytest
from matplotlib import pyplot

from renyi.errors import InputError
from renyi.report.figures.style import check_picture, in_style, save


def test_pictures_are_named_by_their_ending(tmp_path):
    for name in ("a.png", "b.PDF", "c.svg"):
        check_picture(tmp_path / name)
    for name in ("a", "a.xyz", "png"):
        with pytest.raises(InputError, match="does not name a kind of picture"):
            check_picture(tmp_path / name)
    with pytest.raises(InputError, match="its folder does not exist"):
        check_picture(tmp_path / "nowhere" / "a.png")


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("b.PDF", b"%PDF"), ("c.svg", b"<?xml")])
def test_a_figure_is_written_whole_and_let_go(name, start, tmp_path):
    figure = pyplot.figure()
    save(figure, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in Path(tmp_path).iterdir()] == [name]
    assert pyplot.get_fignums() == []


def test_a_notebook_shows_a_figure_once(monkeypatch):
    plot = in_style(lambda pyplot, size: pyplot.figure(figsize=size))
    figure = plot((2, 1))
    assert pyplot.get_fignums() == [figure.number]
    pyplot.close(figure)
    monkeypatch.setattr(pyplot, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    assert tuple(plot((2, 1)).get_size_inches()) == (2, 1)
    assert pyplot.get_fignums() == []


def test_a_dollar_sign_in_a_name_is_one():
    @in_style
    def titled(pyplot):
        figure, axes = pyplot.subplots()
        axes.set_title("from $1 to \\frac$")
        figure.canvas.draw()
        return figure

    pyplot.close(titled())
