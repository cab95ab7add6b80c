import os
import signal
import threading
import time

import numpy as np
import pytest

import renyi

pd = pytest.importorskip("pandas")
pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

pytestmark = pytest.mark.filterwarnings("ignore")


def frame(rng, n=3000):
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x,
            "y": np.where(rng.random(n) < 0.2, np.nan, x**2 + rng.normal(size=n)),
            "late": pd.Series(np.where((np.arange(n) > 2500) & (x > 0), "new", "old"), dtype=object),
        }
    )


def lazily(table, n_partitions):
    import dask.dataframe as dd

    return dd.from_pandas(table, npartitions=n_partitions, sort=False)


def check_same(found, expected):
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    np.testing.assert_allclose(np.log(found.pvalues), np.log(expected.pvalues), atol=1e-4)
    assert dict(found.types) == dict(expected.types)


@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [1, 20])
def test_partitions_have_no_effect(n_partitions, rng):
    table = frame(rng)
    expected = renyi.matrix(table)
    with dask.config.set(scheduler="synchronous"):
        check_same(renyi.matrix(lazily(table, n_partitions)), expected)


def test_empty_partitions_and_one_where_a_column_is_all_missing(rng):
    table = frame(rng)
    table.loc[:800, "y"] = np.nan
    expected = renyi.matrix(table)
    with dask.config.set(scheduler="synchronous"):
        parts = lazily(table, 4)
        assert len(parts.partitions[0].compute()) < 800
        check_same(renyi.matrix(parts), expected)
        kept = lazily(table, 4)
        kept = kept[kept["x"] > table["x"].max() - 1e-9].repartition(npartitions=2)
        with pytest.raises(renyi.InputError, match="1 row"):
            renyi.matrix(kept)


def test_partitions_that_are_counted_by_a_glance_at_the_first_have_no_effect(rng, monkeypatch):
    values = pd.DataFrame({"x": np.sort(rng.normal(size=60_000)), "y": rng.normal(size=60_000)})
    values["y"] += values["x"] ** 2
    # Sorted rows: the first partition knows nothing of where the others lie. A small budget drops bits.
    with dask.config.set(scheduler="synchronous"):
        found = [renyi.matrix(lazily(values, 6), memory="5MB")]
        monkeypatch.setattr("renyi.tables.batches._glanced", lambda accumulator, rows: accumulator)
        found.append(renyi.matrix(lazily(values, 6), memory="5MB"))
    assert np.array_equal(found[0].values, found[1].values)
    assert np.array_equal(found[0].pvalues, found[1].pvalues, equal_nan=True)


def test_arrays(rng):
    import dask.array as da

    table = rng.normal(size=(2000, 3))
    table[:, 1] += table[:, 0] ** 2
    with dask.config.set(scheduler="synchronous"):
        found = renyi.matrix(da.from_array(table, chunks=(700, 2)))
    check_same(found, renyi.matrix(table))
    with pytest.raises(renyi.InputError, match="rows and columns"):
        renyi.matrix(da.from_array(table[:, 0], chunks=700))


@pytest.fixture
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as started,
        Client(started) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_worker_that_is_killed_takes_nothing_with_it(cluster, rng):
    table = frame(rng)
    expected = renyi.matrix(table)
    victims = list(cluster.run(os.getpid).values())

    def slow(part):
        time.sleep(0.3)
        return part

    parts = lazily(table, 12).map_partitions(slow, meta=table.iloc[:0])
    killer = threading.Timer(2.0, os.kill, (victims[0], signal.SIGKILL))
    killer.start()
    found = renyi.matrix(parts)
    killer.join()
    check_same(found, expected)
    assert victims[0] not in cluster.run(os.getpid).values()
    again = renyi.matrix(lazily(table, 12))
    assert np.array_equal(found.values, again.values)
    assert np.array_equal(found.pvalues, again.pvalues, equal_nan=True)


@pytest.mark.slow
def test_the_number_of_workers_changes_no_bit(rng):
    from distributed import Client, LocalCluster

    table = frame(rng)
    with dask.config.set(scheduler="synchronous"):
        here = renyi.matrix(lazily(table, 5))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        there = renyi.matrix(lazily(table, 5))
    assert np.array_equal(here.values, there.values)
    assert np.array_equal(here.pvalues, there.pvalues, equal_nan=True)


def test_a_closed_client_is_refused(rng, monkeypatch):
    import distributed

    class Closed:
        status = "closed"

    monkeypatch.setattr(distributed, "get_client", Closed)
    with pytest.raises(renyi.InputError, match="client is closed"):
        renyi.matrix(lazily(frame(rng), 2))


def test_an_index_of_numbers_is_no_place(rng):
    table = frame(rng).set_index(pd.Index(rng.normal(size=3000)))
    import dask.dataframe as dd

    parts = [dask.delayed(table.iloc[:1000]), dask.delayed(table.iloc[1000:])]
    with dask.config.set(scheduler="synchronous"):
        check_same(renyi.matrix(dd.from_delayed(parts, meta=table.iloc[:0])), renyi.matrix(table))


def test_whole_numbers_between_floats_are_exact_on_a_cluster(rng):
    steps = rng.permutation(3000)
    moments = pd.Series(pd.Timestamp("2024-01-01").as_unit("ns").value + steps).astype("datetime64[ns]")
    table = pd.DataFrame({"x": 2**62 + steps, "t": moments, "y": np.cos(steps / 400)})
    with dask.config.set(scheduler="synchronous"):
        found = renyi.matrix(lazily(table, 7))
    check_same(found, renyi.matrix(table))
    np.testing.assert_allclose(found.pearson, renyi.matrix(table).pearson, atol=1e-6)
