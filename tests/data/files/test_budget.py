import pytest

from renyi.data.files.budget import bytes_of_block, is_small, rows_of_batch
from renyi.errors import InputError


def test_a_table_is_small_if_eight_copies_fit():
    assert is_small(2**20, 2**23)
    assert not is_small(2**20 + 1, 2**23)


def test_batches_and_blocks_grow_with_the_budget_up_to_a_size():
    assert rows_of_batch(20, 2**25) < rows_of_batch(20, 2**27) < rows_of_batch(20, 2**35) == 2**17
    assert bytes_of_block(1) == 2**20 < bytes_of_block(2**30)
    with pytest.raises(InputError, match="too few for batches of 1,000 columns: pass 375MB or more"):
        rows_of_batch(1000, 2**20)
