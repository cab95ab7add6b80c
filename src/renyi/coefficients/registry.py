"""All measures by their names: `measures` and `measure`."""

import difflib
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

from renyi.coefficients.base import Measure
from renyi.errors import InputError, brief

# Where each measure lives; loaded when asked for.
_PLACES = {
    "pearson": ("pearson", "Pearson"),
    "spearman": ("pearson", "Spearman"),
    "kendall": ("kendall", "Kendall"),
    "cca": ("cca", "CCA"),
    "kcca": ("kcca", "Kcca"),
    "ace": ("ace", "Ace"),
    "mic": ("mic", "Mic"),
    "dcor": ("dcor", "Dcor"),
    "hsic": ("hsic", "Hsic"),
    "chsic": ("hsic", "CopulaHsic"),
    "rdc": ("rdc", "Rdc"),
    "xi": ("xi", "Xi"),
    "mutual_info": ("mutual_info", "MutualInfo"),
}


def measures() -> list[str]:
    """Names of all measures of dependence.

    Returns
    -------
    list of str
        Each is a name for `renyi.measure`, and for `measure=` of `renyi.matrix` and `renyi.screen`.

    Examples
    --------
    >>> import renyi
    >>> "pearson" in renyi.measures()
    True
    """
    return list(_PLACES)


def measure(name: str, /, **settings: Any) -> Measure[Any]:
    """A measure of dependence, by its name and settings.

    Parameters
    ----------
    name : str
        One of `renyi.measures()`.
    **settings
        Settings of that measure; what they are is in its documentation.

    Returns
    -------
    Measure
        `m(x, y)` is the coefficient, `m.test(x, y)` its test, `m.statement` what it promises.

    Raises
    ------
    InputError
        For an unknown name or setting.

    Examples
    --------
    >>> import renyi
    >>> round(renyi.measure("pearson")([1, 2, 3], [2, 4, 6]), 6)
    1.0
    """
    if not isinstance(name, str) or name not in _PLACES:
        close = difflib.get_close_matches(str(name).lower(), _PLACES, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(f"there is no measure {brief(name)}: {hint}choose one of {', '.join(_PLACES)}")
    module, kind = _PLACES[name]
    measure_of = getattr(import_module(f"renyi.coefficients.{module}"), kind)
    known = [field.name for field in fields(measure_of)]
    for setting in settings:
        if setting not in known:
            has = f"its settings are {', '.join(known)}" if known else "it has none"
            raise InputError(f"{name} has no setting {setting!r}: {has}")
    # NumPy's numbers as Python's, whose types the measures ask for, and which `str` shows as they are written.
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
    built: Measure[Any] = measure_of(**plain)
    return built
