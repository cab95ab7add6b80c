"""What a budget of memory allows: rows of a batch, bytes of a block of text, and which tables are loaded whole."""

from renyi.errors import InputError

BYTES_OF_CELL = 8
# What a table takes in memory while its pairs are compared, for every byte of its values.
_COPIES = 8
# Bytes of text that are read at once at least.
_LEAST_BLOCK = 2**20
# Parts of a budget that one batch may take, of which some are under way; rows of one at most and at least.
_BATCHES, _MOST_ROWS, _FEWEST_ROWS = 48, 2**17, 1024
# Part of a budget that a batch of long text may take.
_OF_TEXT = 16


def is_small(n_bytes: int, memory: int, /) -> bool:
    """Whether values of so many bytes are compared in memory within a budget."""
    return n_bytes <= largest_small(memory)


def largest_small(memory: int, /) -> int:
    """Bytes of values that are compared in memory at most."""
    return memory // _COPIES


def bytes_of_block(memory: int, /) -> int:
    """Bytes of text that are read at once."""
    return max(_LEAST_BLOCK, memory // (4 * _COPIES))


def rows_of_batch(n_columns: int, memory: int, /) -> int:
    """Rows that are read at once."""
    room = memory // (_BATCHES * BYTES_OF_CELL * max(n_columns, 1))
    if room < _FEWEST_ROWS:
        enough = _FEWEST_ROWS * _BATCHES * BYTES_OF_CELL * n_columns
        raise InputError(
            f"memory={memory:,} bytes are too few for batches of {n_columns:,} columns: pass "
            f"{-(-enough // 2**20):,}MB or more, or fewer columns at a time"
        )
    return int(min(_MOST_ROWS, room))


def rows_of_text(bytes_of_row: int, memory: int, /) -> int:
    """Rows of long text that are read at once at most."""
    return max(1, memory // (_OF_TEXT * max(bytes_of_row, 1)))
