"""What estimators are called with: checked data, threads, seeds."""

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from renyi.compute.arrays import in_memory, is_matrix_of_floats
from renyi.compute.devices import as_numbers
from renyi.compute.threads import available_cores
from renyi.data.files.streams import first_line
from renyi.data.reader import without_masked
from renyi.errors import InputError, are_several, is_integer, must_be
from renyi.selection.inputs import is_frame, with_labels

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def checked_by(check: Callable[..., Any], *data: Any, **settings: Any) -> Any:
    """What a check of scikit-learn makes of data; refusals of libraries that it asks are in words of ours."""
    # Lazy frames have to look for their types, and are refused below.
    eager = [part for part in data if not hasattr(part, "collect")]
    types = (dtype for part in eager if are_several(kinds := getattr(part, "dtypes", None)) for dtype in kinds)
    if "skip_check_array" not in settings and any(getattr(dtype, "kind", "") == "c" for dtype in types):
        raise InputError("the data hold complex numbers, which have no order: pass the real and imaginary parts")
    # Its sums tell whether numbers are finite, and may pass the range of floats; NumPy warns of masked cells.
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning: converting a masked element")
        try:
            return check(*map(without_masked, data), **settings)
        except (TypeError, ValueError):  # its own
            raise
        except Exception as error:
            raise InputError(f"the data cannot be read ({first_line(error)}): pass numbers or a frame") from error


def checked(estimator: Any, X: Any, y: Any, device: Any) -> tuple[Any, NDArray[Any]]:  # noqa: N803
    """Features and target as scikit-learn demands them; frames and tensors of floats stay what they are."""
    y = with_labels(y)
    if is_matrix_of_floats(X):
        if X.shape[1] == 0:
            raise InputError(f"X is a tensor of the shape {tuple(X.shape)}: pass at least one feature")
        X = as_numbers(X, device)  # noqa: N806
    elif not is_frame(X):
        X = as_array(X, "X")  # noqa: N806
        gaps: dict[str, Any] = {"ensure_all_finite": "allow-nan", "ensure_min_samples": 2}
        X, y = checked_by(validate_data, estimator, X, y, multi_output=True, **gaps)  # noqa: N806
        return (X if device is None else as_numbers(X, device)), np.asarray(y)
    checked_by(validate_data, estimator, X, y, skip_check_array=True)
    y = checked_by(check_array, y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=2)
    check_consistent_length(X, y)
    return X, y


def as_array(data: Any, argument: str) -> Any:
    """A tensor as an array in memory; all else as it is."""
    try:
        return in_memory(data)
    except TypeError as error:
        raise InputError(
            f"{argument} is a tensor that cannot become an array ({error}): pass a dense one of a type that NumPy has"
        ) from error


def n_threads_of(n_jobs: Any) -> int:
    """Threads, as `n_jobs` counts them."""
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or n_jobs == 0:
        raise must_be("n_jobs", "a number of threads, or -1 for all cores", n_jobs)
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + int(n_jobs))


def seed_of(random_state: Any) -> int:
    """A whole number that stands for a source of randomness."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state={random_state!r} is not a source of randomness: pass None, an integer ≥ 0 or a Generator"
    )
