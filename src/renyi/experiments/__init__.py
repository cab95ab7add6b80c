"""The paper's experiments, as code anyone can run: `run_experiment` and `draw_experiment`.

Measures come from `coefficients`, figures share their style with `report`; no room below may import this one.

>>> from renyi.experiments import run_experiment
>>> found = run_experiment("power", "results", quick=True)  # doctest: +SKIP
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
