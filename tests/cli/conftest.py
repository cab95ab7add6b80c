import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 200)
    kind = np.where(x > 0, "up", "down")
    y = x**2 + 0.3 * rng.standard_normal(200)
    gappy = np.where(rng.random(200) < 0.3, None, np.round(x + 0.5 * rng.standard_normal(200), 4))
    return pl.DataFrame({
        "x": x, "square": y, "double": 2 * x, "kind": kind, "gappy": gappy.astype(float), "noise": rng.random(200),
        "constant": np.ones(200), "[bold]z[/]": x + 0.5 * rng.standard_normal(200),
    })  # fmt: skip


@pytest.fixture
def file(frame, tmp_path):
    frame.fill_nan(None).write_csv(tmp_path / "table.csv")
    return str(tmp_path / "table.csv")
