"""Groups of columns on a device, beside those of the same table in memory."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from device_groups import both_ways, frame_with_gaps  # noqa: E402
from renyi.allpairs.stack import ROWS_FOR_FLOAT32  # noqa: E402

N = 240


def rows_of(stack, column):
    """The functions of one column (rows, dimension) of a stack on a device."""
    table = sum(part.double() for part in stack.tables).numpy()
    return table[stack.places[:, column].numpy(), : stack.dimension]


@pytest.fixture(params=[0.0, 0.15], ids=["complete", "gaps"])
def sides(request, rng):
    return both_ways(frame_with_gaps(N, rng, gaps=request.param), has_gaps=bool(request.param))


def test_groups_have_the_functions_of_memory_at_every_row(sides):
    for there, here in sides:
        assert [v.column.name for v in there.variables] == [v.column.name for v in here.variables]
        assert there.is_complete == here.is_complete
        for name in ("coefficient", "corner", "rest"):
            stack, known = getattr(there, name), getattr(here, name)
            assert (stack is None) == (known is None)
            if stack is None:
                continue
            assert (len(stack), stack.dimension, stack.n_rows) == (len(known), known.dimension, N)
            assert stack.sizes == known.sizes
            rows = known.rows(slice(0, N)).reshape(len(known), known.dimension, N)
            for k in range(len(stack)):
                assert np.abs(rows_of(stack, k).T - rows[k]).max() < 1e-9


def test_missing_rows_have_the_last_cell_which_is_of_nothing(sides):
    for there, here in sides:
        for k, variable in enumerate(here.variables):
            gaps = variable.column.missing
            is_last = (there.corner.cells(k) == there.corner.sizes[k] - 1).numpy()
            assert (is_last == (np.zeros(N, dtype=bool) if gaps is None else gaps)).all()
            assert not rows_of(there.coefficient, k)[is_last].any()


def test_what_deletion_takes_is_there_where_some_column_has_gaps(sides):
    for there, here in sides:
        if all(known.is_complete for _, known in sides):
            assert there.gaps is None
            continue
        gaps = there.gaps
        assert (gaps.moments is None) == (here.moments is None)
        assert (gaps.recipes is None) == (here.recipes is None) == (gaps.coefficient is not None)
        if here.recipes is not None:
            assert np.abs(gaps.recipes.numpy() - np.stack(here.recipes)).max() < 1e-9
        if here.moments is not None:
            assert gaps.functions.dimension == here.moments.at(np.zeros(1)).shape[1] - 1
        else:
            dimension = here.nested.dimension
            assert gaps.functions.dimension == dimension + dimension * (dimension + 1) // 2


def test_a_part_of_a_group_is_that_of_all_it_has(sides):
    for there, _ in sides:
        n_columns = len(there.positions)
        if n_columns == 1 or there.gaps is None:
            continue
        part = there.part(slice(1, n_columns))
        assert len(part.gaps.functions) == len(part.variables) == n_columns - 1
        for name in ("nested", "recipes"):
            whole, some = getattr(there.gaps, name), getattr(part.gaps, name)
            assert (whole is None) == (some is None)
            if whole is not None:
                assert torch.equal(whole[1:], some)
        assert np.array_equal(rows_of(part.gaps.functions, 0), rows_of(there.gaps.functions, 1))


def test_functions_that_were_made_together_are_found_by_their_columns(rng):
    frame = frame_with_gaps(N, rng, n_plain=12)
    for there, here in both_ways(frame):
        known = here.coefficient.rows(slice(0, N)).reshape(len(here.coefficient), -1, N)
        for k in range(len(there.coefficient)):
            # Functions may be turned within their span.
            own = rows_of(there.coefficient, k)
            for a, b in ((own, known[k].T), (known[k].T, own)):
                assert np.abs(a - b @ np.linalg.lstsq(b, a, rcond=None)[0]).max() < 1e-7


def test_many_rows_are_multiplied_in_single_precision_but_for_few_values(rng):
    n = ROWS_FOR_FLOAT32
    kinds = {
        variable.column.name: there.coefficient.dtype
        for there, _ in both_ways(frame_with_gaps(n, rng, n_plain=1))
        for variable in there.variables
    }
    assert kinds["n0"] == torch.float32
    assert {kinds[name] for name in ("rounded", "two", "eight", "sixty")} == {torch.float64}


def test_categories_of_many_levels_have_no_products_of_functions(rng):
    """Their pairs with gaps are compared one by one."""
    made = {
        there.variables[0].column.name: there.gaps
        for there, _ in both_ways(frame_with_gaps(1000, rng)[["eight", "sixty", "lat", "lon", "whole"]])
    }
    assert made["sixty"] is None
    assert made["eight"] is not None
