"""The paper's experiments in small, for tests of whatever runs or shows them."""

import json
from pathlib import Path

from odd_measures import Plain
from renyi.coefficients.pearson import Pearson
from renyi.experiments import power
from renyi.experiments.entries import Coefficient

SMALL = power.Sizes(n=60, levels=(1, 10), repetitions=20, slow_seconds=100.0)
PEARSON, PLAIN = Coefficient(Pearson()), Coefficient(Plain())


def run_power(path, entries=(PEARSON, PLAIN), **options):
    said = []
    settings = {"patterns": ["linear", "circle"], "sizes": SMALL, "seed": 5, "say": said.append} | options
    record = power.measure_power(path, entries, **settings)
    return record, said


def results(path):
    return json.loads(Path(path).read_text())["results"]
