"""Reports: how large they are, how long they take to write, and how soon Chromium shows them.

Needs `playwright` and Chromium: pip install 'renyi[all,test]', apt-get install chromium.
"""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record
from renyi.tables.dependence_matrix import DependenceMatrix

_VISITS = 5
SIZES = (
    ("small", 500, 10, 2),
    ("thirty", 800, 30, 5),
    ("hundred", 50_000, 100, 20),
    ("fifty thousand", 300, 320, 0),
    ("wide", 300, 500, 0),
)
_CLICK = """(name) => {
    const buttons = [...document.querySelectorAll("#table th button")];
    const button = buttons.find((each) => each.textContent.startsWith(name));
    const start = performance.now();
    button.click();
    return (performance.now() - start) / 1000;
}"""
_OPENED = (
    """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000))))"""
)


def table_of(n_rows: int, n_columns: int, *, n_categories: int) -> dict[str, Any]:
    """Columns that depend on one another by lines, curves and groups, in blocks of ten."""
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {}
    for k in range(n_columns - n_categories):
        if k % 10 == 0:
            hidden = rng.standard_normal(n_rows)
        values: NDArray[np.float64] = [hidden, hidden**2, np.sin(3 * hidden)][k % 3] + rng.exponential(0.7, n_rows)
        table[f"number {k}"] = values
    for k in range(n_categories):
        base = next(iter(table.values())) + rng.standard_normal(n_rows)
        cells = np.digitize(base, np.quantile(base, np.linspace(0, 1, k % 7 + 3)[1:-1]))
        table[f"category {k}"] = renyi.categorical(np.array([f"level {code}" for code in range(k % 7 + 3)])[cells])
    return table


def measure(name: str, found: DependenceMatrix, browser: Any, folder: Path) -> dict[str, Any]:
    start = time.perf_counter()
    path = found.report(folder / f"{name}.html")
    written = time.perf_counter() - start
    opened, worked, sorted_in = [], [], []
    for _ in range(_VISITS):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        session = page.context.new_cdp_session(page)
        # The processor time of the page's main thread, which other work on the machine does not change much.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(path.as_uri(), timeout=120_000)
        opened.append(page.evaluate(_OPENED))
        metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
        worked.append(metrics["TaskDuration"])
        sorted_in.append(max(page.evaluate(_CLICK, column) for column in ("x", "Pearson", "p")))
        page.close()
    result = {
        "rows": found.n_rows,
        "columns": len(found.names),
        "pairs": len(found.edges),
        "megabytes": round(path.stat().st_size / 1e6, 3),
        "seconds to write": round(written, 2),
        "seconds to open, best and worst": [round(min(opened), 3), round(max(opened), 3)],
        "processor seconds to open, best and worst": [round(min(worked), 3), round(max(worked), 3)],
        "seconds to sort, best and worst": [round(min(sorted_in), 3), round(max(sorted_in), 3)],
    }
    print(name, result)
    return result


def main() -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        results: dict[str, Any] = {
            name: measure(name, renyi.matrix(table_of(n, d, n_categories=c)), browser, Path(place))
            for name, n, d, c in SIZES
        }
        results["browser"] = browser.version
        browser.close()
    record("report", results, "numpy", "scipy", "jinja2", "playwright")


if __name__ == "__main__":
    main()
