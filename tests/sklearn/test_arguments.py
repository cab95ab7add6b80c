"""What estimators are called with."""

import numpy as np
import pandas as pd
import pytest

from renyi.compute.threads import available_cores
from renyi.errors import InputError
from renyi.sklearn import RDCSelector
from renyi.sklearn.arguments import as_array, checked, n_threads_of, seed_of


def test_threads_are_counted_as_joblib_does():
    assert [n_threads_of(n) for n in (None, 1, 3, np.int64(2))] == [1, 1, 3, 2]
    assert n_threads_of(-1) == available_cores()
    assert n_threads_of(-2) == max(1, available_cores() - 1)
    assert n_threads_of(-1000) == 1
    for wrong in (0, 1.5, True, "all"):
        with pytest.raises(InputError, match="n_jobs must be"):
            n_threads_of(wrong)


def test_sources_of_randomness_are_whole_numbers_that_follow_them():
    assert (seed_of(None), seed_of(7), seed_of(np.uint8(7))) == (0, 7, 7)
    for source in (np.random.RandomState, np.random.default_rng):
        assert seed_of(source(1)) == seed_of(source(1)) != seed_of(source(2))
    for wrong in (-1, 0.5, True, "x"):
        with pytest.raises(InputError, match="is not a source of randomness"):
            seed_of(wrong)


def test_frames_stay_frames_and_lists_become_arrays():
    frame, y = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyx")}), [1, 2, 3]
    features, target = checked(RDCSelector(), frame, y, None)
    assert features is frame
    assert target.tolist() == y
    features, target = checked(RDCSelector(), [[1, 2], [3, 4]], pd.Series(pd.Categorical([3, 1])), None)
    assert (features.tolist(), target.tolist()) == ([[1, 2], [3, 4]], ["3", "1"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        checked(RDCSelector(), frame, [1, 2], None)


def test_tensors_of_floats_stay_and_others_are_read():
    torch = pytest.importorskip("torch")
    values = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    features, _ = checked(RDCSelector(), values, [0, 1], torch.device("cpu"))
    assert isinstance(features, torch.Tensor)
    assert isinstance(checked(RDCSelector(), values.int(), [0, 1], None)[0], np.ndarray)
    with pytest.raises(InputError, match=r"the shape \(2, 0\): pass at least one feature"):
        checked(RDCSelector(), values[:, :0], [0, 1], torch.device("cpu"))
    assert as_array(values.requires_grad_(), "X").tolist() == [[1.0, 2.0], [3.0, 5.0]]
    assert as_array([1, 2], "X") == [1, 2]
    with pytest.raises(InputError, match="X is a tensor that cannot become an array"):
        as_array(torch.eye(3).to_sparse(), "X")
