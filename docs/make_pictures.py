"""Draw the pictures of the documentation into docs/images; the one of the report needs Chromium."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_wine

import renyi
from renyi.experiments.figures import plot_gallery
from renyi.experiments.gallery import score_gallery
from renyi.report.figures.style import save
from renyi.sklearn import RDCSelector

IMAGES = Path(__file__).parent / "images"
_PAIR = ("flavanoids", "color")


def wine() -> "object":
    """The table of the tour: 178 wines, 13 measurements and the cultivar."""
    frame = load_wine(as_frame=True).frame.rename(
        columns={"target": "cultivar", "color_intensity": "color", "od280/od315_of_diluted_wines": "dilution"}
    )
    return frame.assign(cultivar=frame["cultivar"].map({0: "A", 1: "B", 2: "C"}))


def draw() -> None:
    """What Matplotlib draws."""
    table = wine()
    save(plot_gallery(score_gallery(1000, seed=0)), IMAGES / "gallery.png")
    save(renyi.matrix(table).plot(), IMAGES / "heatmap.png")
    save(renyi.transformations(table[_PAIR[0]], table[_PAIR[1]]).plot(), IMAGES / "transformations.png")
    features, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    rng = np.random.default_rng(0)
    wide = features.assign(**{f"noise {j}": rng.normal(size=len(features)) for j in range(40)})
    save(RDCSelector(n_features_to_select=5).fit(wide, progress).plot_path(), IMAGES / "selection-path.png")


def photograph() -> None:
    """The report on the same table, as a browser shows it, with one pair open."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        page_file = Path(folder) / "wine.html"
        renyi.matrix(wine()).report(page_file, title="178 wines", pairs=[_PAIR])
        browser = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 960})
        page.goto(page_file.as_uri())
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "report.png")
        page.goto(f"{page_file.as_uri()}#pair={','.join(_PAIR)}")
        page.reload()
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "report-pair.png")
        browser.close()


if __name__ == "__main__":
    draw()
    if shutil.which("chromium"):
        photograph()
    else:
        print("no Chromium: the pictures of the report stay as they are")
