from . import experiments as experiments
from . import sklearn as sklearn
from .accumulator import Accumulator as Accumulator
from .coefficient import rdc as rdc
from .coefficient import transformations as transformations
from .columns import Column as Column
from .columns import categorical as categorical
from .conditional import conditional_test as conditional_test
from .dependence import DependenceMatrix as DependenceMatrix
from .dependence import Screening as Screening
from .errors import CalibrationWarning as CalibrationWarning
from .errors import ConvergenceWarning as ConvergenceWarning
from .errors import InputError as InputError
from .errors import MissingExtraError as MissingExtraError
from .errors import RenyiError as RenyiError
from .independence import independence_test as independence_test
from .inference.discovery import adjust as adjust
from .peers.registry import measure as measure
from .peers.registry import measures as measures
from .results import TestResult as TestResult
from .results import Transformations as Transformations
from .table import matrix as matrix
from .table import pairs as pairs
from .table import screen as screen

__all__ = [
    "Accumulator",
    "CalibrationWarning",
    "Column",
    "ConvergenceWarning",
    "DependenceMatrix",
    "InputError",
    "MissingExtraError",
    "RenyiError",
    "Screening",
    "TestResult",
    "Transformations",
    "adjust",
    "categorical",
    "conditional_test",
    "experiments",
    "independence_test",
    "matrix",
    "measure",
    "measures",
    "pairs",
    "rdc",
    "screen",
    "sklearn",
    "transformations",
]

__version__: str
