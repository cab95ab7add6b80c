"""The clustered heatmap."""

import itertools

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

import renyi
from renyi.report.figures import heatmap


def blocks_table(rng, n_columns, n=150):
    """Two causes, whose effects take turns in the table."""
    z = rng.standard_normal((2, n))
    return {f"c{j}": z[j % 2] + 0.4 * rng.standard_normal(n) for j in range(n_columns)}


def drawn(figure):
    ax = figure.axes[0]
    names = [label.get_text() for label in ax.get_yticklabels()]
    return ax, names, np.asarray(ax.images[0].get_array())


def test_similar_columns_are_neighbours(rng):
    _, names, colours = drawn(renyi.matrix(blocks_table(rng, 10)).plot())
    causes = [int(name[1:]) % 2 for name in names]
    assert sum(a != b for a, b in itertools.pairwise(causes)) == 1
    # Dark in the two blocks, pale between them; above the diagonal there is nothing.
    assert colours[1:4, 0].mean() < colours[6:, 0].mean() - 0.2
    assert (colours[np.triu_indices(10, 1)] == 1.0).all()


def test_findings_are_numbered_once_where_their_names_are(rng):
    found = renyi.matrix(blocks_table(rng, 7) | {"alone": rng.random(150)})
    ax, names, _ = drawn(found.plot())
    texts = {tuple(text.get_position()): text.get_text() for text in ax.texts if text.get_transform() == ax.transData}
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            at = found.names.index(a), found.names.index(b)
            is_written = j < i and found.qvalues[at] <= 0.05
            assert texts.get((j, i)) == (f"{found.strength[at]:.2f}" if is_written else None)
    assert 0 < len(texts) < 28


def test_numbers_stand_out_from_their_cells(rng):
    x = rng.standard_normal(300)
    table = {f"x{k}": x + spread * rng.standard_normal(300) for k, spread in enumerate((0.1, 0.3, 0.6, 0.9, 1.5))}
    ax, _, colours = drawn(renyi.matrix(table).plot())
    written = [text for text in ax.texts if text.get_transform() == ax.transData]
    assert {text.get_color() for text in written} == {"black", "white"}
    for text in written:
        j, i = text.get_position()
        linear = np.where(colours[i, j] <= 0.04045, colours[i, j] / 12.92, ((colours[i, j] + 0.055) / 1.055) ** 2.4)
        luminance = linear @ [0.2126, 0.7152, 0.0722]
        assert (1.05 / (luminance + 0.05) if text.get_color() == "white" else (luminance + 0.05) / 0.05) >= 4.5


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [2, 3, 30, 31, 60, 200])
def test_every_size_is_readable(rng, n_columns):
    figure = renyi.matrix(blocks_table(rng, n_columns, n=60)).plot()
    ax, names, colours = drawn(figure)
    assert colours.shape == (n_columns, n_columns, 3)
    assert 1 <= len(names) <= 80
    assert (len(names) == n_columns) == (n_columns <= 80)
    has_numbers = any(text.get_text().replace("−", "").replace(".", "").isdigit() for text in ax.texts)
    # Of two columns there is one pair, of two causes.
    assert has_numbers == (3 <= n_columns <= 30)
    figure.canvas.draw()
    title = ax.title if ax.title.get_text() else ax._left_title
    assert figure.bbox.contains(*title.get_window_extent().max)
    heights = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(a.y0 >= b.y1 - 2 for a, b in itertools.pairwise(heights))


def test_what_is_no_finding_is_pale_and_what_is_unknown_grey(rng):
    x = rng.random(60)
    half = np.arange(60) < 30
    table = {"x": x, "y": x + 0.1 * rng.random(60), "noise": rng.random(60)}
    found = renyi.matrix(table | {"first": np.where(half, x, np.nan), "group": np.where(half, "a", "b")})
    shades = heatmap._shades(pyplot, found)
    at = found.names.index
    assert tuple(shades[at("first"), at("group")]) == matplotlib.colors.to_rgb(heatmap.UNKNOWN)
    assert tuple(shades[0, 0]) == matplotlib.colors.to_rgb(heatmap.SELF)
    assert found.qvalues[0, at("noise")] > 0.05
    assert shades[0, at("noise")].min() > 0.9 > shades[0, 1].min()
    figure = found.plot()
    assert any("grey" in text.get_text() for text in figure.axes[0].texts)


def test_diamonds_mark_what_is_not_linear(rng):
    x = rng.uniform(-1, 1, 300)
    found = renyi.matrix({"x": x, "square": x**2 + 0.1 * rng.random(300), "line": x + 0.3 * rng.random(300)})
    ax, names, _ = drawn(found.plot())
    (diamonds,) = ax.collections
    places = [(round(x), round(y)) for x, y in diamonds.get_offsets()]
    assert {frozenset((names[y], names[x])) for x, y in places} == {
        frozenset(("x", "square")),
        frozenset(("square", "line")),
    }
    assert all(x < y for x, y in places)
    linear = renyi.matrix({"x": x, "line": x + 0.3 * rng.random(300)}).plot()
    assert not any("nonlinear" in text.get_text() for text in linear.axes[0].texts)


@pytest.mark.slow
def test_of_many_marks_the_strongest_are_drawn_and_can_be_seen(rng):
    x = rng.uniform(-1, 1, 200)
    table = {f"line {k}": x + 0.1 * rng.random(200) for k in range(10)}
    table |= {f"square {k}": x**2 + (0.1 + 0.1 * k) * rng.standard_normal(200) for k in range(10)}
    found = renyi.matrix(table | {f"noise {k}": rng.random(200) for k in range(280)})
    figure = found.plot()
    ax, names, _ = drawn(figure)
    (diamonds,) = ax.collections
    assert len(diamonds.get_offsets()) == 40
    assert diamonds.get_sizes().min() >= 14
    assert any(text.get_text().startswith("◆ the 40 strongest of ") for text in ax.texts)
    assert len(names) <= 80


def test_two_tables(rng):
    table = blocks_table(rng, 6)
    other = {f"o{name}": values + 0.2 * rng.standard_normal(150) for name, values in blocks_table(rng, 3).items()}
    found = renyi.matrix(table, other)
    ax, names, colours = drawn(found.plot())
    assert colours.shape == (6, 3, 3)
    assert sorted(names) == sorted(table)
    assert sorted(label.get_text() for label in ax.get_xticklabels()) == sorted(other)


def test_draws_where_it_is_told(rng):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert renyi.matrix(blocks_table(rng, 4)).plot(ax=right) is figure
    assert not left.images
    assert right.images


@pytest.mark.slow
def test_names_are_text(rng):
    found = renyi.matrix({"$x^2$ $": rng.random(50), "two\nlines": rng.random(50), "long " * 30: rng.random(50)})
    figure = found.plot()
    _, names, _ = drawn(figure)
    figure.canvas.draw()
    assert "two\\nlines" in names
    assert max(map(len, names)) <= 24
