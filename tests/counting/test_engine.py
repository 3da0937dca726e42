from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from understudy.counting import LocalEngine
from understudy.data.coded import Coded
from understudy.errors import DataError, ParameterError
from understudy.progress import reporting


@pytest.fixture
def letters():
    return Coded.from_arrays({"a": np.arange(10)})


def text(batch):
    # Early batches take longest: whoever adds in the order of finishing gets it wrong.
    time.sleep(0.002 * (10 - int(batch["a"][0])))
    return "".join(map(str, batch["a"].tolist()))


@pytest.mark.parametrize("threads", [1, 3])
def test_partials_are_added_in_the_order_of_the_batches(letters, in_batches, threads):
    stream = in_batches(letters, 1, 3, 4, 8)
    assert LocalEngine(threads).sum_over(stream, text) == "0123456789"


def test_a_coded_table_is_one_batch(letters):
    seen = []
    LocalEngine(3).sum_over(letters, lambda batch: seen.append(batch) or 0)
    assert seen == [letters]


@pytest.mark.parametrize("threads", [1, 3])
def test_written_in_the_order_of_the_plan_and_by_the_caller(threads):
    written = []

    def kernel(item):
        time.sleep(0.002 * (10 - item))
        return item * item

    def sink(batch):
        written.append((batch, threading.get_ident()))

    LocalEngine(threads).write_over(range(10), kernel, sink)
    assert written == [(item * item, threading.get_ident()) for item in range(10)]


def test_kernels_run_ahead_of_a_slow_sink_by_a_bounded_number():
    started, ahead = [], []

    def kernel(item):
        started.append(item)
        return item

    def sink(item):
        time.sleep(0.005)
        ahead.append(len(started) - item)

    LocalEngine(threads=2).write_over(range(20), kernel, sink)
    assert max(ahead) <= 3  # the one being written, and one for each thread


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_the_work(threads):
    started = []

    def kernel(item):
        started.append(item)
        if item == 2:
            raise DataError("item 2 is bad")
        return item

    with pytest.raises(DataError, match="item 2 is bad"):
        LocalEngine(threads).write_over(range(1000), kernel, started.index)
    assert len(started) < 10


def test_batches_with_other_columns_are_refused(letters, in_batches):
    other = Coded.from_arrays({"a": [0]}, {"a": 11})
    stream = in_batches(letters, 0, 5)
    stream.batches.append(other)
    with pytest.raises(DataError, match=r"Batch 3 has other columns.*'a': 11.*'a': 10"):
        LocalEngine().sum_over(stream, len)
    # An empty first batch is still the first batch.
    stream.batches = [letters.take(slice(0)), other]
    with pytest.raises(DataError, match="Batch 1 has other columns"):
        LocalEngine().sum_over(stream, len)


def test_no_batches_and_no_threads_are_refused(letters, in_batches):
    stream = in_batches(letters)
    stream.batches.clear()
    with pytest.raises(DataError, match="no batches"):
        LocalEngine().sum_over(stream, len)
    with pytest.raises(ParameterError, match="`threads` must be at least 1; got 0"):
        LocalEngine(threads=0)


def test_progress_is_reported(letters, in_batches):
    class Listener:
        seen = ()

        def track(self, items, description, total):
            for item in items:
                self.seen += ((description, total, len(item)),)
                yield item

    listener = Listener()
    with reporting(listener):
        LocalEngine().sum_over(in_batches(letters, 4), len)
        LocalEngine().write_over(["ab", "c"], str, str)
    assert listener.seen == (
        ("Counting", None, 4),
        ("Counting", None, 6),
        ("Sampling", 2, 2),
        ("Sampling", 2, 1),
    )
