import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from renyi.compute import threads
from renyi.compute.threads import alone, available_cores, in_threads, keep_going, share, stream


def test_outcomes_come_in_the_order_of_the_items():
    def slow_first(k):
        time.sleep(0.02 if k % 7 == 0 else 0.0)
        return k * k

    assert list(stream(slow_first, range(40))) == [k * k for k in range(40)]
    assert list(stream(slow_first, [])) == []
    assert list(stream(slow_first, iter(range(40)), at_once=7)) == [k * k for k in range(40)]
    assert in_threads(slow_first, range(9)) == [k * k for k in range(9)]


def test_threads_without_work_take_pieces_of_what_others_do(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    meet = threading.Barrier(4)  # of who does the task, and three that have none

    def piece(k):
        if k < 4:
            meet.wait(timeout=5)
        return k * k

    squares = [k * k for k in range(20)]
    assert list(stream(lambda _: share(piece, range(20)), iter([0]))) == [squares]


def most_at_once(task, items, **options):
    """The outcomes, and how many items were worked on at the same time."""
    lock, running, most = threading.Lock(), [0], [0]

    def counted(item):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        try:
            return task(item)
        finally:
            with lock:
                running[0] -= 1

    return list(stream(counted, items, **options)), most[0]


def test_some_tasks_are_abreast_and_all_other_threads_help_with_them(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 3)
    meet = threading.Barrier(3)  # one with a task and two that have none

    def piece(k):
        meet.wait(timeout=5)
        return k

    found, most = most_at_once(lambda k: share(piece, range(3 * k, 3 * k + 3)), range(2), abreast=1)
    assert (found, most) == ([[0, 1, 2], [3, 4, 5]], 1)
    found, most = most_at_once(lambda k: time.sleep(0.002) or k, range(30), abreast=2)
    assert found == list(range(30))
    assert most == 2


def test_few_threads_help_with_short_calls_at_the_same_time(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    monkeypatch.setattr(threads, "_MOST_IN_SHORT_CALLS", 2)
    lock, running, most = threading.Lock(), [0], [0]

    def piece(k):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.002)
        with lock:
            running[0] -= 1
        return k

    def task(start):
        return share(piece, range(start, start + 20), are_short_calls=True)

    assert list(stream(task, [0, 20], abreast=2)) == [list(range(20)), list(range(20, 40))]
    assert most[0] in (3, 4)  # who does the tasks, and two that help


def test_pieces_may_have_pieces_and_come_in_order(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 3)

    def task(start):
        return share(lambda k: sum(share(abs, [k, -k])), range(start, start + 50))

    assert list(stream(task, range(7))) == [[2 * k for k in range(start, start + 50)] for start in range(7)]
    assert share(abs, [-1, 2]) == [1, 2]  # where there are no threads


def test_an_error_of_a_piece_comes_out_when_the_others_have_ended(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    running = []

    def piece(k):
        running.append(k)
        time.sleep(0.005)
        if k == 3:
            raise ValueError("piece 3")
        running.remove(k)

    with pytest.raises(ValueError, match="piece 3"):
        list(stream(lambda _: share(piece, range(200)), [0, 1]))
    assert set(running) == {3}


def test_work_that_is_taken_at_once_needs_no_thread():
    def thread(_):
        return threading.get_ident()

    assert set(stream(thread, range(5), at_once=5)) == {threading.get_ident()}
    assert threading.get_ident() not in set(stream(thread, range(6), at_once=5))


def test_several_items_at_once_are_let_go_of_between_them(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 2)
    done = []

    def slowly(k):
        done.append(k)
        time.sleep(0.001)

    outcomes = stream(slowly, range(10_000), at_once=50)
    next(outcomes)
    outcomes.close()
    assert len(done) < 1_000


def test_work_runs_beside_other_work(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 2)
    meeting = threading.Barrier(2, timeout=10)
    # Each waits for the other: one thread alone would never get through.
    assert sorted(stream(lambda _: meeting.wait(), range(2))) == [0, 1]


def test_work_is_never_far_ahead_of_who_takes_it(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 2)
    taken, given = 0, 0

    def items():
        nonlocal given
        for k in range(100):
            given += 1
            assert given - taken <= 6, "2 threads are at most 5 items ahead"
            yield k

    for _ in stream(lambda k: k, items()):
        taken += 1
    assert taken == given == 100


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_comes_out_and_lets_go_of_the_rest(error):
    before, done = threading.active_count(), []

    def fail_at_three(k):
        if k == 3:
            raise error("at three")
        done.append(k)
        return k

    outcomes = stream(fail_at_three, range(10_000))
    assert [next(outcomes) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(error, match="at three"):
        next(outcomes)
    assert len(done) <= 3 * available_cores() + 5
    assert threading.active_count() == before


def test_an_error_of_the_items_comes_out():
    before = threading.active_count()

    def items():
        yield from (1, 2)
        raise RuntimeError("no more items")

    with pytest.raises(RuntimeError, match="no more items"):
        list(stream(lambda k: k, items()))
    assert threading.active_count() == before


def test_what_has_not_begun_when_the_consumer_stops_never_does(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 1)
    release, second, begun = threading.Event(), threading.Event(), []

    def work(k):
        begun.append(k)
        if k > 0:
            second.set()
            assert release.wait(10)

    outcomes = stream(work, range(100))
    next(outcomes)
    assert second.wait(10)
    timer = threading.Timer(0.3, release.set)
    timer.start()
    outcomes.close()
    timer.join()
    assert begun == [0, 1]


def test_who_stops_early_leaves_nothing_running():
    before, begun = threading.active_count(), []
    outcomes = stream(begun.append, range(10_000))
    next(outcomes)
    outcomes.close()
    assert threading.active_count() == before
    assert len(begun) <= 3 * available_cores() + 2


def test_libraries_are_held_to_one_core_meanwhile():
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def cores(_):
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        within = list(stream(cores, range(2)))
        assert within[0]
        assert all(n == 1 for found in within for n in found)
        assert set(cores(None)) == {2}


def test_long_work_that_nobody_waits_for_ends_itself():
    begun, ended = threading.Event(), threading.Event()

    def work(_):
        begun.set()
        try:
            while True:
                keep_going()
                time.sleep(0.01)
        finally:
            ended.set()

    with pytest.raises(ZeroDivisionError):
        for _ in stream(lambda item: 1 / 0 if item == 0 and begun.wait(10) else work(item), range(2)):
            pass
    assert ended.is_set()
    keep_going()  # outside of such work it does nothing


def test_an_interruption_is_heard_whichever_thread_the_system_tells():
    def tell_this_thread(_):
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            keep_going()
            time.sleep(0.01)

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(stream(tell_this_thread, [None, None]))
    assert time.monotonic() - begun < 10


def test_work_that_is_alone_has_one_core(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4), raising=False)
    with alone():
        with alone():
            pass
        assert available_cores() == 1
        assert in_threads(lambda _: threading.get_ident(), range(2)) == [threading.get_ident()] * 2
        # It holds for this thread alone.
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(available_cores).result() == 4
    assert available_cores() == 4


def test_libraries_get_their_cores_back_after_work_that_overlaps():
    def cores():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2):
        before = cores()
        first, second = stream(abs, range(50)), stream(abs, range(50))
        next(first)
        next(second)
        assert set(cores()) == {1}
        first.close()
        assert set(cores()) == {1}
        second.close()
        assert cores() == before
