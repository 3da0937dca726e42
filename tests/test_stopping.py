"""Signals end the work within a second, also where Python does not hear them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from understudy import stopping
from understudy.stopping import Stopped, ended_with, stoppable, stopped_by, whole


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Leave the work time to hear a signal, on a machine that has much else to do, too."""
    monkeypatch.setattr(stopping, "PATIENCE", 60.0)


def never():
    pytest.fail("the process was to be ended")


def send(number):
    os.kill(os.getpid(), number)
    time.sleep(30)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_block(number, code):
    before = signal.getsignal(number)
    with pytest.raises(Stopped) as stop, stoppable(never):
        send(number)
    assert stop.value.exit_code == code
    assert signal.getsignal(number) is before


def test_what_must_be_whole_is_finished_first():
    done = []

    def work():
        with whole():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
            done.append(True)
        done.append("not reached")

    with pytest.raises(Stopped), stoppable(never):
        work()
    assert done == [True]


def test_a_second_signal_does_not_disturb_what_tidies_up():
    tidied = []

    def work():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            tidied.append(True)

    with pytest.raises(Stopped), stoppable(never):
        work()
    assert tidied == [True]


def test_an_interrupt_is_passed_on_as_what_is_awaited():
    interrupt = KeyboardInterrupt()
    assert stopped_by(interrupt) is interrupt
    with stoppable(never):
        assert isinstance(stopped_by(interrupt), Stopped)


def test_nothing_is_left_to_end_after_the_block():
    with ended_with(never):
        assert len(stopping._state.endings) == 1
    assert not stopping._state.endings


DEAF = """
import os, signal, sys, threading, time
import numpy as np
from numba import njit
from understudy.stopping import ended_with, stoppable

@njit(nogil=True)
def long(n):
    x = 0.0
    for i in range(n):
        x += np.sin(i)
    return x

long(1)
def ended():
    print("ended", flush=True)
with stoppable(lambda: print("told", flush=True)), ended_with(ended):
    print("ready", flush=True)
    print(long(10**11))
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_kernel_that_does_not_hear_it_is_ended(number):
    running = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    start = time.monotonic()
    running.send_signal(number)
    out, _ = running.communicate(timeout=30)
    assert out == "ended\ntold\n"
    assert running.returncode == 128 + number
    assert time.monotonic() - start < 10  # one second on a machine with nothing else to do


def test_two_threads_that_end_the_work_tell_of_it_once():
    told = []
    tell = stopping.once(lambda: told.append("Stopped"))
    threads = [threading.Thread(target=tell) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == ["Stopped"]
