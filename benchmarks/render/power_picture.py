"""Draw docs/images/power.png: the power of every test on the paper's patterns, and the limit that none can exceed."""

from typing import Any

from inference_tables import PAPERS_EIGHT, limits, peer_names, power_rows
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style, save
from tables import DOCS


@in_style
def plot_power(pyplot: Any) -> Any:
    """A row for every pattern: peers in grey, the default test in blue, the limit as a line."""
    known = limits()
    rows = [(name, list(map(float, powers))) for name, *powers in power_rows() if name in known]
    rows.sort(key=lambda row: row[0] == PAPERS_EIGHT)
    figure, ax = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
    for place, (name, (ours, *peers)) in enumerate(rows):
        ax.plot([min(peers), known[name]], [place, place], color=GREY, lw=0.5, alpha=0.5, zorder=0)
        ax.scatter(peers, [place] * len(peers), s=22, color=GREY, alpha=0.45, linewidths=0)
        ax.scatter(ours, place, s=60, color=BLUE)
        ax.plot([known[name]] * 2, [place - 0.32, place + 0.32], color=ORANGE, lw=2.5)
    _, (ours, *peers) = rows[-1]
    below = len(rows) - 0.55
    named = dict(zip(peer_names(), peers, strict=True))
    labels = [("limit", known[PAPERS_EIGHT], ORANGE), ("renyi", ours, BLUE)]
    labels += [(name, named[name], GREY) for name in ("ACE", "dCor", "MIC", "Pearson")]
    for name, power, color in labels:
        ax.text(power, below, f"{name}\n{power:.2f}", ha="center", va="top", color=color, fontsize=8.5)
    ax.set_yticks(range(len(rows)), [name.strip("*") for name, _ in rows])
    ax.set(xlim=(0, 1.02), ylim=(len(rows) + 0.4, -0.6), xlabel="mean power at 5 % over 30 levels of noise")
    ax.tick_params(left=False)
    ax.spines["left"].set_visible(False)
    return figure


if __name__ == "__main__":
    save(plot_power(), DOCS / "images/power.png")
