"""Ctrl-C in each long step ends a command soon, says so, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from understudy.cli import commands
from understudy.data import partial, simulate
from understudy.data.files import write

SOON = 10.0
"""Seconds; on a machine with nothing else to do it is one."""

TELLING = """
import contextlib, sys
from understudy.cli import session
from understudy.cli.commands import main
from understudy.progress import reporting

class Told:
    def track(self, items, description, total):
        def say(prefix):
            text = description if isinstance(description, str) else description()
            print(prefix, text, file=sys.stderr, flush=True)
        say("BEGIN")
        for item in items:
            yield item
            say("DONE")
        print("END", file=sys.stderr, flush=True)

@contextlib.contextmanager
def progress(ctx):
    with reporting(Told()):
        yield

session.progress = progress
main()
"""
ASKED = ("--keys", "V1,V2", "--sensitive", "Class", "--measures", "quick", "-o", "report.html")
SYNTH = ("synth", "data.csv", "-o", "out.csv", "--seed", "1", "--method")
STEPS = {
    "trees": ((*SYNTH, "cart"), "BEGIN Growing trees"),
    "greedy": ((*SYNTH, "bayes", "--structure", "greedy"), "BEGIN Placing attributes"),
    "lookups": (("audit", "data.csv", "copy.csv", *ASKED), "DONE looking for lookalikes"),
    "numbers": (("audit", "data.csv", "copy.csv", *ASKED), "DONE comparing correlations"),
    "report": (("audit", "data.csv", "copy.csv", *ASKED), "END"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("interrupts")
    table = simulate("credit_card", 3_000, random_state=1)
    write(table, made / "data.csv")
    write(table.reverse(), made / "copy.csv")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("step", list(STEPS))
def test_an_interrupt_is_heard_in_each_long_step(folder, step):
    command, awaited = STEPS[step]
    before = set(folder.iterdir())
    running = subprocess.Popen(
        [sys.executable, "-c", TELLING, *command],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    said = []
    for line in running.stderr:
        said.append(line)
        if line.startswith(awaited):
            break
    else:
        pytest.fail(f"it did not come to {awaited!r}: {''.join(said)[-2000:]}")
    start = time.monotonic()
    os.killpg(running.pid, signal.SIGINT)
    _, rest = running.communicate(timeout=60)
    took = time.monotonic() - start
    assert running.returncode == 130, rest
    assert "Stopped; nothing was written." in rest
    assert "Traceback" not in rest
    assert took < SOON
    assert set(folder.iterdir()) == before


def test_an_error_that_an_interrupt_becomes_is_told_as_a_stop(monkeypatch, capsys):
    def interrupted():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except BaseException:  # noqa: BLE001  # as compiled modules do while they are loaded
            raise ImportError("cannot import name") from None

    monkeypatch.setattr(partial, "finished", [])
    monkeypatch.setattr(commands, "app", interrupted)
    monkeypatch.setattr(commands.stopping, "leave", sys.exit)
    with pytest.raises(SystemExit) as end:
        commands.main()
    assert end.value.code == 143
    said = capsys.readouterr().err
    assert "Stopped; nothing was written." in said
    assert "failed" not in said
