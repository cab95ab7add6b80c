"""The paper's experiments in small, for tests of whatever runs or shows them."""

import json
from pathlib import Path

from odd_measures import Plain
from renyi.coefficients.pearson import Pearson
from renyi.experiments import power
from renyi.experiments.entries import Coefficient
from renyi.experiments.runs import Run

SMALL = power.Sizes(n=60, levels=(1, 10), repetitions=20, slow_seconds=100.0)
PEARSON, PLAIN = Coefficient(Pearson()), Coefficient(Plain())


def run_power(path, entries=(PEARSON, PLAIN), **options):
    said = []
    settings = {"patterns": ["linear", "circle"], "sizes": SMALL} | options
    how = {name: settings.pop(name) for name in ("seed", "jobs", "progress", "say") if name in settings}
    record = power.measure_power(Run(path, **({"seed": 5, "say": said.append} | how)), entries, **settings)
    return record, said


def results(path):
    return json.loads(Path(path).read_text())["results"]
