from .coefficient import rdc as rdc
from .coefficient import transformations as transformations
from .columns import Column as Column
from .columns import categorical as categorical
from .errors import InputError as InputError
from .errors import MissingExtraError as MissingExtraError
from .errors import RenyiError as RenyiError
from .results import Transformations as Transformations

__all__ = [
    "Column",
    "InputError",
    "MissingExtraError",
    "RenyiError",
    "Transformations",
    "categorical",
    "rdc",
    "transformations",
]

__version__: str
