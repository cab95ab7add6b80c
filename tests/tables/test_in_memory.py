import threading

import pytest

import renyi
from renyi.allpairs import compare
from renyi.pair import independence
from renyi.tables import in_memory
from sample_tables import SOME, VECTORS, mixed


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_an_error_within_a_tile_comes_out_as_itself_and_leaves_no_thread(error, monkeypatch, rng):
    before, seen = threading.active_count(), []

    def fail(*tile, **_):
        seen.append(tile)
        raise error("within a tile")

    monkeypatch.setattr(in_memory, "compare", fail)
    with pytest.raises(error, match="within a tile"):
        renyi.matrix(mixed(60, rng), vectors=VECTORS)
    assert seen
    assert threading.active_count() == before


def test_an_error_of_one_pair_is_no_missing_answer(monkeypatch, rng):
    def fail(*_, **__):
        raise ArithmeticError("of one pair")

    monkeypatch.setattr(compare, "as_observed", fail)
    with pytest.raises(ArithmeticError, match="of one pair"):
        renyi.matrix(mixed(23, rng, gaps=0.2))


def test_every_column_is_prepared_once(monkeypatch, rng):
    prepared = []

    def prepare(column, **options):
        prepared.append(column.name)
        return independence.prepare(column, **options)

    monkeypatch.setattr(in_memory, "prepare", prepare)
    found = renyi.matrix(mixed(80, rng, gaps=0.2)[SOME])
    assert sorted(prepared) == sorted(found.names)
