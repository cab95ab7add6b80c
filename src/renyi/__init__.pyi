from . import causal as causal
from . import experiments as experiments
from . import sklearn as sklearn
from .change.api import compare as compare
from .change.parts import Comparisons as Comparisons
from .change.result import Comparison as Comparison
from .coefficients.registry import measure as measure
from .coefficients.registry import measures as measures
from .data.categories import categorical as categorical
from .data.column import Column as Column
from .errors import CalibrationWarning as CalibrationWarning
from .errors import ConvergenceWarning as ConvergenceWarning
from .errors import InputError as InputError
from .errors import MissingExtraError as MissingExtraError
from .errors import RenyiError as RenyiError
from .inference.false_discovery import adjust as adjust
from .pair.conditional import conditional_test as conditional_test
from .pair.independence import independence_test as independence_test
from .pair.rdc import rdc as rdc
from .pair.result import TestResult as TestResult
from .pair.result import Transformations as Transformations
from .pair.transformations import transformations as transformations
from .series.api import lags as lags
from .series.result import Lags as Lags
from .series.rolling import Rolling as Rolling
from .series.rolling import rolling as rolling
from .tables.accumulator import Accumulator as Accumulator
from .tables.api import matrix as matrix
from .tables.api import pairs as pairs
from .tables.api import screen as screen
from .tables.dependence import Dependence as Dependence
from .tables.dependence_matrix import DependenceMatrix as DependenceMatrix
from .tables.screening import Screening as Screening
from .tables.strongest import Pairs as Pairs

__all__ = [
    "Accumulator",
    "CalibrationWarning",
    "Column",
    "Comparison",
    "Comparisons",
    "ConvergenceWarning",
    "Dependence",
    "DependenceMatrix",
    "InputError",
    "Lags",
    "MissingExtraError",
    "Pairs",
    "RenyiError",
    "Rolling",
    "Screening",
    "TestResult",
    "Transformations",
    "adjust",
    "categorical",
    "causal",
    "compare",
    "conditional_test",
    "experiments",
    "independence_test",
    "lags",
    "matrix",
    "measure",
    "measures",
    "pairs",
    "rdc",
    "rolling",
    "screen",
    "sklearn",
    "transformations",
]

__version__: str
