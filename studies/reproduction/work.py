"""The runs behind the tables: each makes some of them, and is kept when it is finished."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.reproduction import attack_tables, cart_tables, network_tables
from studies.reproduction.found import STAND_IN, Found, load_found, save
from studies.reproduction.printed import PrintedTable, printed_tables
from studies.reproduction.verdicts import Cell, judge
from understudy.errors import DataError, ParameterError, did_you_mean

SYNTHESES = 10


@dataclass(frozen=True)
class Work:
    """A run that makes some tables.

    `quick` runs take a few seconds with two syntheses, and are those of the tests.
    """

    name: str
    tables: tuple[str, ...]
    run: Callable[[int, int], Found]
    quick: bool = False


WORK = (
    Work(
        "attribution",
        ("2020-fig1", "2020-1", "2020-2", "2020-3", "2020-4", "2020-5"),
        attack_tables.attribution_tables,
        quick=True,
    ),
    Work(
        "fertility", ("2020-10", "2020-11", "2020-baselines"), attack_tables.fertility_tables, True
    ),
    Work(
        "unique-record",
        ("cart-1", "cart-a1", "cart-a2", "cart-footnote4"),
        cart_tables.unique_record,
        True,
    ),
    Work("tried", ("2020-1", "2020-2", "2020-3", "2020-4", "2020-5"), attack_tables.tried_tables),
    Work("sd2011", ("cart-a4",), cart_tables.sd2011),
    Work("cmc-times", ("2022-2",), network_tables.cmc_times),
    Work("cmc-attack", ("2022-9", "2022-baselines"), network_tables.cmc_attack),
    Work("cmc-utility", ("2022-5", "2022-11"), network_tables.cmc_utility),
    Work("classifiers", ("2020-6", "2020-7", "2020-8", "2020-9"), attack_tables.classifier_tables),
    Work("adult-times", ("2022-3",), network_tables.adult_times),
    Work("adult-attack", ("2022-10",), network_tables.adult_attack),
    Work("adult-ages", ("2022-10",), network_tables.adult_ages),
    Work("card-times", ("2022-4",), network_tables.card_times),
    Work("card-utility", ("2022-7",), network_tables.card_utility),
    *(
        Work(
            f"adult-utility-{parents}",
            ("2022-6", "2022-12") if parents == 4 else ("2022-6",),
            network_tables.adult_utility(parents),
        )
        for parents in (1, 2, 3, 4)
    ),
    Work("adult-custom", ("2022-12",), network_tables.adult_custom),
)
"""All runs, the quick ones first."""


def work_for(tables: Sequence[str]) -> list[Work]:
    """Return the runs that make some tables; all if none is named."""
    known = printed_tables()
    for name in tables:
        if name not in known:
            raise ParameterError(
                f"There is no table {name!r}.{did_you_mean(name, known)} "
                f"The tables are {', '.join(known)}."
            )
    return [one for one in WORK if not tables or set(tables) & set(one.tables)]


def carry_out(
    works: Sequence[Work], folder: Path, *, syntheses: int, processes: int, again: bool
) -> Iterator[str]:
    """Make what is not there yet, each run in a file of its own, and say what became of each.

    A run that was made with as many syntheses is kept, so that an interrupted one goes on where it
    stopped. What needs data that are not there is left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, work in enumerate(works, 1):
        path = folder / f"{work.name}.json"
        kept = None if again else load_found(path)
        place = f"[{number} of {len(works)}] {work.name} ({', '.join(work.tables)})"
        if kept is not None and kept.get("syntheses") == syntheses:
            yield f"{place}: is there already."
            continue
        start, used = time.monotonic(), cpu_seconds()
        try:
            found = work.run(syntheses, processes)
        except DataError as error:
            yield f"{place}: is left out. {error}"
            continue
        seconds, cpu = time.monotonic() - start, cpu_seconds() - used
        save(found, path, syntheses=syntheses, seconds=seconds, cpu=cpu)
        yield f"{place}: {seconds:.0f} s, {cpu:.0f} s of CPU."


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it started and that have ended."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


def judged(folder: Path) -> dict[str, tuple[PrintedTable, list[Cell]]]:
    """Return all tables, each with its cells beside ours, as far as they are made."""
    found = {}
    for name, table in printed_tables().items():
        together = Found()
        for content in contents_of(name, folder).values():
            together.take(Found({name: content["runs"].get(name, {})}, list(content["notes"])))
        stand_in = any(note.startswith(STAND_IN) for note in together.notes)
        found[name] = (table, judge(table, together.runs.get(name, {}), stand_in=stand_in))
    return found


def contents_of(name: str, folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return what was found by the runs that make a table, as far as they are finished."""
    loaded = {
        one.name: load_found(folder / f"{one.name}.json") for one in WORK if name in one.tables
    }
    return {own: content for own, content in loaded.items() if content is not None}
