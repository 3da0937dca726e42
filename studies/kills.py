"""Commands that are killed at random moments: no half file, no orphan, and the next run works.

Each case starts `synth`, `run` or `audit` over an earlier result that it may replace, waits a
random part of the time that its last run took, and sends SIGKILL, SIGTERM or SIGINT to it (the last
one to its whole group, as a terminal does). Then every output is either as it was, or whole and
new; no process of the command is left; the command runs again, and then no temporary file is left
either.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from studies.mutations import original
from understudy.data.files import write
from understudy.progress import track
from understudy.synthesis.model_file import HEADER
from understudy.wording import markdown_table

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SOON = 5.0
"""Seconds within which every process must have ended; on an idle machine it takes one."""

ATTEMPTS = 3
"""How often a case is tried whose command ends before its signal."""
BY_ITSELF = "by itself"

_ASKED = ("--keys", "age,job", "--sensitive", "ill", "--measures", "quick")
COMMANDS: dict[str, tuple[str, ...]] = {
    "synth": (
        *("synth", "data.csv", "-o", "out.csv", "--method", "cart", "--seed", "1", "--force"),
        *("--rows", "200000", "--save-model", "model.us"),
    ),
    "run": ("run", "data.csv", "-o", "release", *_ASKED, "--seed", "1", "--force"),
    "audit": ("audit", "data.csv", "copy.csv", *_ASKED, "-o", "report.html", "--force"),
}


@dataclass
class Kills:
    """What became of the kills, by command and signal; `failures` are those that left something."""

    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    longest: float = 0.0

    def to_markdown(self) -> str:
        """Return the counts as a table, and the failures."""
        rows = [(*key, str(times)) for key, times in sorted(self.outcomes.items())]
        return "\n".join(
            [
                markdown_table(["command", "signal", "ended", "times"], rows),
                "",
                f"Longest time from a signal to the end: {self.longest:.1f} s",
                f"Failures: {len(self.failures)}",
                *self.failures,
            ]
        )


def run(kills: int, folder: Path, seed: int = 1) -> Kills:
    """Kill commands so many times in an empty folder."""
    table = original()
    write(table, folder / "data.csv")
    write(table, folder / "copy.csv")
    found = Kills()
    chance = random.Random(seed)  # noqa: S311  # no secret
    for command in COMMANDS.values():
        _again(command, folder)  # kernels are compiled in the first run, and kept
    seconds = {name: _again(command, folder) for name, command in COMMANDS.items()}
    with contextlib.suppress(KeyboardInterrupt):  # what was found until then counts
        for case in track(range(kills), "Killing commands"):
            _case(case, chance, seconds, folder, found)
    return found


def _case(
    case: int, chance: random.Random, seconds: dict[str, float], folder: Path, found: Kills
) -> None:
    """Kill the command whose turn it is, and note what is wrong, and how long it takes."""
    name = list(COMMANDS)[case % len(COMMANDS)]
    number = SIGNALS[case // len(COMMANDS) % len(SIGNALS)]
    part = chance.uniform(0, 1)
    for _ in range(ATTEMPTS):
        wait = part * seconds[name]
        killed = _killed(name, number, wait, folder, found)
        told = f"{name}, {number.name} after {wait:.2f} s"
        found.failures += [f"{told}: {one}" for one in killed.problems]
        seconds[name] = killed.seconds
        if not killed.early:
            break
        part *= 0.8  # the machine was quicker than before


@dataclass(frozen=True)
class _Killed:
    """What is wrong after a kill, whether the command had ended before, and the next run's time."""

    problems: list[str]
    early: bool
    seconds: float


def _killed(name: str, number: signal.Signals, wait: float, folder: Path, found: Kills) -> _Killed:
    """Kill a command once, unless it ends before, and run it again."""
    by_itself = found.outcomes[name, number.name, BY_ITSELF]
    problems = list(_kill(name, number, wait, folder, found))
    early = found.outcomes[name, number.name, BY_ITSELF] > by_itself
    took = _again(COMMANDS[name], folder)
    if left := [path for path in _contents(folder) if ".part" in path]:
        problems.append(f"the next run left {left}")
    return _Killed(problems, early, took)


def _kill(
    name: str, number: signal.Signals, wait: float, folder: Path, found: Kills
) -> Iterator[str]:
    """Kill a command once; yield what is wrong afterwards."""
    before = _contents(folder)
    process = subprocess.Popen(  # noqa: S603  # our own command
        _words(COMMANDS[name]),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where it is ignored, as in a job in the background, it would be for the child too.
        preexec_fn=_hear_interrupts,  # noqa: PLW1509  # nothing else runs here
    )
    time.sleep(wait)
    ended = process.poll() is not None
    start = time.monotonic()
    if not ended:
        # A terminal sends Ctrl-C to the whole group.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, said = process.communicate()
    took = time.monotonic() - start
    found.longest = max(found.longest, took)
    code = process.returncode
    outcome = BY_ITSELF if ended or code == 0 else "by the signal"
    found.outcomes[name, number.name, outcome] += 1
    # Before its first line has run, Python ends by the signal itself.
    expected = {0, 1, -number} if ended else {0, 1, -number, 128 + number}
    if code not in expected:
        yield f"exit code {code}: {said[-300:]}"
    if took > SOON:
        yield f"it took {took:.1f} s to end"
    if number != signal.SIGKILL and code == 128 + number and "Stopped;" not in said:
        yield f"it did not say that it was stopped: {said[-300:]}"
    if "Exception ignored" in said or (code == 128 + number and "Traceback" in said):
        yield f"it was noisy: {said[-300:]}"
    if _group_lives(process.pid):
        yield "a process is left"
    after = _contents(folder)
    yield from _half(before, after, number == signal.SIGKILL)


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _half(before: dict[str, str], after: dict[str, str], killed: bool) -> Iterator[str]:
    """Yield which outputs are neither as they were nor whole; the seed makes new ones the same."""
    for path in before.keys() - after.keys():
        if not killed or not path.startswith("release"):  # it comes back with the next run
            yield f"{path} is gone"
    for path, content in after.items():
        if ".part" in path:
            if not killed:
                yield f"{path} is left"
        elif path.endswith((".csv", ".us")) and path in before and before[path] != content:
            yield f"{path} is neither the old one nor a new one"


def _contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): _digest(path)
        for path in folder.rglob("*")
        if path.is_file()
    }


def _digest(path: Path) -> str:
    """Return what tells two contents apart; how long a model took to fit does not count."""
    content = path.read_bytes()
    if path.suffix == ".us" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        header = json.loads(parts[HEADER])
        header.pop("seconds")
        content = repr((header, sorted(parts.items() - {(HEADER, parts[HEADER])}))).encode()
    return hashlib.sha256(content).hexdigest()


def _again(command: tuple[str, ...], folder: Path) -> float:
    """Run a command to its end, and return how long it took; raise if it fails."""
    start = time.monotonic()
    subprocess.run(_words(command), cwd=folder, check=True, capture_output=True)  # noqa: S603
    return time.monotonic() - start


def _words(command: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "understudy", *command]


def _group_lives(leader: int) -> bool:
    """Return whether a process of a group still lives, after it had time to end."""
    for _ in range(int(SOON / 0.1)):
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True
