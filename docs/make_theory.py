"""Draw the pictures of the page on theory into docs/images, from formulas in plain NumPy."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

import renyi
from renyi.inference.roy import log_sf
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style, save

Array = NDArray[np.float64]
IMAGES = Path(__file__).parent / "images"
# The blocks of two numbers that are outlined; the mirror images of the thin ones are outlined too.
BLOCKS = ((1, 1), (2, 2), (4, 4), (8, 8), (3, 1), (6, 1), (20, 1), (6, 2))


def sample(n: int) -> tuple[Array, Array]:
    """A wave with noise: what the first picture follows."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, n)
    return x, np.cos(2 * np.pi * x) + x + 0.25 * rng.standard_normal(n)


def ranks(x: Array) -> Array:
    """Ranks as shares of the rows, in (0, 1]."""
    return (np.argsort(np.argsort(x)) + 1.0) / len(x)


def waves(u: Array, n_waves: int = 10, scale: float = 3.0) -> Array:
    """Sines and cosines of random frequencies."""
    w = scale * np.random.default_rng(0).standard_normal(n_waves)
    return np.concatenate([np.sin(np.outer(u, w)), np.cos(np.outer(u, w))], axis=1)


def basis(functions: Array) -> Array:
    """Orthonormal columns that span the centred functions, without directions that hardly vary."""
    left, values, _ = np.linalg.svd(functions - functions.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, values / np.sqrt(len(functions)) > 1e-6])


def nested(u: Array, n_functions: int = 20) -> Array:
    """Functions from smooth to rough, each without what those before it say."""
    columns = [np.ones_like(u), u, u**2, *(np.cos(k * np.pi * u) for k in range(3, n_functions + 1))]
    orthonormal, triangle = np.linalg.qr(np.stack(columns, axis=1))
    return np.asarray((orthonormal * np.sign(np.diag(triangle)))[:, 1:])


@in_style
def plot_way(pyplot: Any) -> Any:
    """From data to the two functions whose correlation is the coefficient."""
    x, y = sample(500)
    u, v = ranks(x), ranks(y)
    of_x, of_y = basis(waves(u)), basis(waves(v))
    left, values, right = np.linalg.svd(of_x.T @ of_y)
    f, g = np.sqrt(len(x)) * of_x @ left[:, 0], np.sqrt(len(y)) * of_y @ right[0]
    figure, axes = pyplot.subplots(1, 5, figsize=(13.5, 3), layout="constrained")
    titles = ("1  data", "2  ranks", "3  waves of u", "4  f, the best mixture", "5  f against g")
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, loc="left")
    dots: dict[str, Any] = {"s": 4, "color": BLUE, "alpha": 0.5, "linewidths": 0}
    axes[0].scatter(x, y, **dots)
    axes[1].scatter(u, v, **dots)
    grid = np.linspace(0, 1, 200)
    fastest = np.argsort(-np.ptp(waves(grid), axis=0))[:7]
    for j, wave in enumerate(waves(grid).T[fastest]):
        axes[2].plot(grid, wave - 2.4 * j, color=GREY, lw=1)
    order = np.argsort(u)
    axes[3].plot(u[order], f[order], color=ORANGE, lw=2)
    axes[4].scatter(f, g, **dots)
    labels = (("x", "y"), ("u = rank of x", "v = rank of y"), ("u", ""), ("u", "f"), ("f(x)", "g(y)"))
    for ax, (below, beside) in zip(axes, labels, strict=True):
        ax.set_xlabel(below)
        ax.set_ylabel(beside)
    axes[4].set_title(f"5  f against g: {values[0]:.2f}", loc="left")
    return figure


@in_style
def plot_scales(pyplot: Any) -> Any:
    """The functions of the test, and their products of dependent and of independent columns, with blocks."""
    rng = np.random.default_rng(1)
    x, y = sample(500)
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    grid = (np.arange(1000) + 0.5) / 1000
    for j, function in enumerate(nested(grid).T[:8]):
        axes[0].plot(grid, function / np.abs(function).max() - 2.3 * j, color=GREY, lw=1.2)
        axes[0].text(-0.03, -2.3 * j, str(j + 1), ha="right", va="center", fontsize=8)
    axes[0].set_title("the first 8 of 20 functions, smooth to rough", loc="left")
    axes[0].set(xticks=[], yticks=[], xlabel="u")
    axes[0].spines[:].set_visible(False)
    for ax, other, title in ((axes[1], y, "products: x and y"), (axes[2], rng.permutation(y), "products: y permuted")):
        products = nested(ranks(x)).T @ nested(ranks(other))
        shown = ax.imshow(np.abs(products), cmap="Blues", vmin=0, vmax=0.7)
        for a, b in {*BLOCKS, *((b, a) for a, b in BLOCKS)}:
            ax.add_patch(Rectangle((-0.5, -0.5), b, a, fill=False, ec=ORANGE, lw=0.9))
        ax.set_title(title, loc="left")
        ax.set(xlabel="functions of y", ylabel="functions of x", xticks=[0, 9, 19], yticks=[0, 9, 19])
        ax.set_xticklabels(["1", "10", "20"])
        ax.set_yticklabels(["1", "10", "20"])
    figure.colorbar(shown, ax=axes[2], label="size of the product")
    return figure


@in_style
def plot_null(pyplot: Any) -> Any:
    """Coefficients of independent pairs beside the distribution that theory has for them."""
    rng = np.random.default_rng(2)
    n, n_pairs = 500, 3000
    found = np.array([renyi.rdc(*rng.standard_normal((2, n))) for _ in range(n_pairs)])
    # Two numbers without ties have eight functions each by the default settings.
    grid = np.linspace(0, 0.5, 400)
    below = 1 - np.exp(log_sf(grid**2, 8, 8, n))
    median = float(np.interp(0.5, below, grid))
    figure, ax = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    ax.hist(found, bins=60, density=True, color=BLUE, alpha=0.35, label=f"{n_pairs:,} independent pairs of {n} rows")
    ax.plot(grid, np.gradient(below, grid), color=BLUE, lw=1.6, label="Roy's largest root")
    ax.axvline(median, color=GREY, lw=1)
    ax.text(median, 1.03 * ax.get_ylim()[1], "median: debiasing takes it off", ha="center", fontsize=9, color=GREY)
    ax.axvline(0.36, color=ORANGE, lw=1.6)
    pvalue = np.exp(log_sf(np.array([0.36**2]), 8, 8, n))[0]
    ax.text(0.363, 0.1 * ax.get_ylim()[1], f"a coefficient of 0.36:\np = {pvalue:.0e}", color=ORANGE, fontsize=9)
    ax.set(xlim=(0.05, 0.5), yticks=[], xlabel="coefficient")
    ax.spines["left"].set_visible(False)
    ax.legend(frameon=False, fontsize=9, loc="upper right")
    return figure


if __name__ == "__main__":
    save(plot_way(), IMAGES / "theory-way.png")
    save(plot_scales(), IMAGES / "theory-scales.png")
    save(plot_null(), IMAGES / "theory-null.png")
