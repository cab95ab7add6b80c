from .reproduce import Reproduced as Reproduced
from .reproduce import draw_experiment as draw_experiment
from .reproduce import run_experiment as run_experiment

__all__ = ["Reproduced", "draw_experiment", "run_experiment"]
