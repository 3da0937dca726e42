"""Work in other processes: in order, as it is taken, and what goes wrong in words."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from understudy.errors import ParameterError
from understudy.learning import jobs
from understudy.learning.jobs import AHEAD, mapped


def taken(count, log):
    for number in range(count):
        log.append(number)
        yield number


def test_one_process_works_here_and_only_as_asked():
    log = []
    with mapped(str, taken(5, log), 1, must_travel=threading.Lock()) as results:
        assert log == []
        assert next(results) == "0"
        assert log == [0]
        assert list(results) == ["1", "2", "3", "4"]


def test_two_processes_give_results_in_order(tmp_path):
    # Each process goes to the folder before its first job: the names are then those of files there.
    names = list("dbeac")
    with mapped(
        os.path.abspath, names, 2, must_travel=1, prepare=os.chdir, given=(tmp_path,)
    ) as found:
        assert list(found) == [str(tmp_path / name) for name in names]


def test_what_cannot_be_sent_is_said():
    with (
        pytest.raises(ParameterError, match=r"cannot be sent to other processes.*processes=1"),
        mapped(str, [1], 2, must_travel=lambda: None),
    ):
        pytest.fail("this was never sent")


class Pool:
    """Does a job when its result is asked for; `broken` ones find their process gone."""

    def __init__(self, broken=()):
        self.broken = broken
        self.given = []

    def submit(self, function, job):
        self.given.append(job)
        future = Future()
        if job in self.broken:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(function(job))
        return future


def test_few_jobs_wait_at_the_same_time():
    pool, log = Pool(), []
    found = jobs._in_order(pool, str, taken(10, log), 2 * AHEAD)
    assert next(found) == "0"
    assert pool.given == [0, 1, 2, 3]
    assert next(found) == "1"
    assert pool.given == [0, 1, 2, 3, 4]
    assert list(found) == [str(number) for number in range(2, 10)]


def test_processes_that_end_are_explained():
    found = jobs._in_order(Pool(broken=[2]), str, range(4), 2)
    with pytest.raises(ParameterError, match=r'__name__ == "__main__"'):
        list(found)
