"""Spark DataFrames on a real cluster; what tables give is compared with other doors in `contracts`."""

import copy
import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest

import renyi
from renyi.compute import spark as engine
from renyi.compute.spark import folded_over, is_spark
from renyi.errors import InputError
from spark_session import REQUIRED, spark_session

if not REQUIRED:
    pytest.importorskip("pyspark")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

WAVES = ("sin(id * 0.7) as x", "cos(id * 1.4) + (id * 37 % 101) / 200 as y", "sin(id * 0.3) > 0.9 as rare")


@pytest.fixture(scope="module")
def spark():
    return spark_session()


def table(spark, n_partitions, n=3000):
    """Rows that are the same in the same order, whoever computes a partition."""
    return spark.range(0, n, 1, n_partitions).selectExpr(*WAVES)


def check_same(found, expected):
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    np.testing.assert_allclose(np.log(found.pvalues), np.log(expected.pvalues), atol=1e-4)
    assert dict(found.types) == dict(expected.types)


def check_equal(found, expected):
    assert np.array_equal(found.values, expected.values)
    assert np.array_equal(found.pvalues, expected.pvalues, equal_nan=True)


@pytest.mark.parametrize(
    ("n_partitions", "tree"), [(1, "a"), (5, "((((a+b)+c)+d)+e)"), (9, "(((((a+b)+c)+d)+(((e+f)+g)+h))+i)")]
)
def test_the_number_of_partitions_shapes_the_tree(spark, n_partitions, tree):
    def named(start, tables):
        ids = [one for rows in tables for one in rows.column("id").to_pylist()]
        assert len(ids) == 2
        return chr(start + ids[0] // 2)

    def add(some, more):
        return f"({some}+{more})"

    assert folded_over(spark.range(0, 2 * n_partitions, 1, n_partitions), named, ord("a"), add) == tree


def test_outcomes_travel_in_pieces(spark, monkeypatch):
    def noise(size, tables):
        return np.concatenate([rows.column("id").to_numpy() for rows in tables]), np.zeros(size)

    def add(some, more):
        return np.concatenate([some[0], more[0]]), some[1]

    monkeypatch.setattr(engine, "_PIECE", 1000)
    packed = list(engine._packed(3, np.arange(500.0)))
    assert len(packed) > 4
    part, (outcome,) = engine._unpacked(engine_table(packed[::-1]))
    assert part == 3
    assert np.array_equal(outcome, np.arange(500.0))
    monkeypatch.undo()
    ids, _ = folded_over(spark.range(0, 30, 1, 6), noise, 5 * 2**20, add)
    assert ids.tolist() == list(range(30))


def engine_table(batches):
    import pyarrow as pa

    return pa.Table.from_batches(batches)


def test_sums_that_arrow_cannot_send_are_refused(monkeypatch):
    monkeypatch.setattr(engine, "_LIMIT", 2**12)
    (_, (outcome,)) = engine._unpacked(engine_table(list(engine._packed(0, np.zeros(2**10)))))
    assert isinstance(outcome, InputError)
    assert "pass a smaller memory" in str(outcome)


def test_batches_are_put_together():
    pa = pytest.importorskip("pyarrow")

    def lengths(*sizes, width=1):
        batches = (pa.record_batch({f"x{j}": np.zeros(size) for j in range(width)}) for size in sizes)
        tables = list(engine._tables(batches, [f"a.{j}" for j in range(width)]))
        assert all(rows.column_names[0] == "a.0" for rows in tables)
        return [len(rows) for rows in tables]

    assert lengths() == []
    assert lengths(*[10_000] * 14, 7) == [130_000, 10_007]
    assert lengths(200_000, 5) == [200_000, 5]
    # Wide rows are fewer.
    assert lengths(*[10_000] * 9, width=200) == [40_000, 40_000, 10_000]


def test_a_table_as_in_memory(spark):
    frame = table(spark, 6)
    found, expected = renyi.matrix(frame), renyi.matrix(frame.toPandas())
    check_same(found, expected)
    assert is_spark(frame)
    # Results are small frames here, and leave the session behind.
    assert type(found.to_frame()).__module__.startswith("pandas")
    assert found.top().equals(pickle.loads(pickle.dumps(found)).top())
    assert found.top().equals(copy.deepcopy(found).top())


def test_empty_partitions_and_names_that_spark_does_not_find(spark):
    frame = table(spark, 6).where("x > 0.9").toDF("a.b", "A", "a")
    renamed = renyi.matrix(frame.toPandas())
    check_same(renyi.matrix(frame), renamed)
    few = spark.range(0, 40, 1, 8).where("id < 20").selectExpr("id", "id * id % 17 as square")
    check_same(renyi.matrix(few), renyi.matrix(few.toPandas()))


def test_columns_of_all_types(spark):
    from pyspark.ml.linalg import Vectors

    rows = [(Vectors.dense([1.0, k]), k, k * k % 37) for k in range(60)]
    frame = spark.createDataFrame(rows, ["model", "a", "b"]).selectExpr(
        "*",
        "array(a) as list",
        "struct(a) as struct",
        "map(a, b) as map",
        "cast(cast(a as string) as binary) as bytes",
        "null as nothing",
        "make_ym_interval(b, a) as months",
        "make_dt_interval(b) as days",
        "cast(b as decimal(20, 2)) as money",
        "timestamp_seconds(b) as moment",
        "date_add(date'2024-01-01', cast(b as int)) as day",
        "a % 3 = 0 as flag",
        "cast(a % 4 as string) as word",
    )
    found = renyi.screen(frame, "a")
    plain = ["b", "months", "days", "money", "moment", "day"]
    assert found.values[[found.names.index(name) for name in plain[2:]]] == pytest.approx(
        found.values[found.names.index("b")], abs=1e-9
    )
    assert {name: found.types[name] for name in (*plain, "flag", "word")} == {
        "b": "number",
        "months": "number",
        "days": "duration",
        "money": "number",
        "moment": "date",
        "day": "date",
        "flag": "boolean",
        "word": "category",
    }
    assert set(found.skipped) == {"model", "list", "struct", "map", "bytes", "nothing"}
    for name in ("model", "list", "struct"):
        assert "neither numbers nor labels" in found.skipped[name]


def test_an_executor_that_is_killed_changes_no_bit(spark, tmp_path):
    """Once in the first pass and once in the second; each time Spark starts another one."""
    quiet = renyi.matrix(table(spark, 6))
    visits, killed = tmp_path / "visits", tmp_path / "killed"

    def deadly(batches):
        from pyspark import TaskContext

        for batch in batches:
            if TaskContext.get().partitionId() == 3:
                with visits.open("a") as file:
                    file.write("x")
                if visits.stat().st_size in (1, 3):
                    # The parent of this process is a daemon of Python, whose parent is the executor.
                    status = Path(f"/proc/{os.getppid()}/status").read_text()
                    executor = int(status.partition("PPid:")[2].split()[0])
                    with killed.open("a") as file:
                        file.write(f"{executor}\n")
                    os.kill(executor, signal.SIGKILL)
            yield batch

    frame = table(spark, 6)
    check_equal(renyi.matrix(frame.mapInArrow(deadly, frame.schema)), quiet)
    victims = killed.read_text().split()
    assert len(victims) == 2
    assert not any(Path(f"/proc/{victim}").exists() for victim in victims)


def test_errors_are_short_and_say_what_to_do(spark):
    def broken(batches):
        raise KeyError("no such thing")
        yield

    frame = table(spark, 2)
    with pytest.raises(
        InputError, match="types names 'z', which is not a column of the batch: it has 'x', 'y', 'rare'"
    ):
        renyi.matrix(frame, types={"z": "skip"})
    for failing, reason in (
        (frame.mapInArrow(broken, frame.schema), "KeyError: 'no such thing'"),
        (frame.selectExpr("x", "raise_error('ouch') as y"), "ouch"),
    ):
        with pytest.raises(InputError, match=f"cannot be computed .*{reason}.*: mend the query") as caught:
            renyi.matrix(failing)
        assert len(str(caught.value)) < 600


def test_rows_that_differ_between_the_passes_are_noticed(spark):
    def drawn(batches):
        import pyarrow as pa

        for batch in batches:
            values = np.random.default_rng().normal(size=(2, batch.num_rows))
            yield pa.RecordBatch.from_arrays([pa.array(one) for one in values], ["x", "y"])

    frame = spark.range(0, 500, 1, 2).mapInArrow(drawn, "x double, y double")
    with pytest.raises(InputError, match=r"not hold the values of the first pass .*cache"):
        renyi.matrix(frame)
    frame = frame.cache()
    check_same(renyi.matrix(frame), renyi.matrix(frame.toPandas()))
    frame.unpersist()


def test_a_session_that_has_stopped(spark):
    class Stopped:
        columns = ("x", "y")

        def toDF(self, *_):
            from pyspark.errors import PySparkRuntimeError

            raise PySparkRuntimeError("SparkContext should be created first")

    with pytest.raises(InputError, match=r"SparkContext should be created first.*the session runs"):
        folded_over(Stopped(), len, None, max)
    with pytest.raises(AttributeError):
        folded_over(object(), len, None, max)
