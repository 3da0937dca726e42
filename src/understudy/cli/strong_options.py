"""The strong attacker, as `understudy attack` is asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from understudy.cli import options
from understudy.cli.option_groups import SHOW_RECORDS, Reworded, panel, spelled
from understudy.cli.options import split_names
from understudy.errors import ParameterError, unknown_columns
from understudy.wording import listed

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from understudy.risk import Command, StrongAttack
    from understudy.synthesis import Synthesizer

Prior = Literal["informed", "uniform", "marginal"]
Mode = Literal["auto", "fixed", "refit"]

_STRONG = "The strong attacker (--strong)"
_strong = panel(_STRONG)
_black_box = panel("The strong attacker on a release of another tool (--command)")

_RUNS = 100
_WHOLE = "*"


@dataclass(frozen=True, kw_only=True)
class StrongOptions:
    """The options of the strong attacker as they were given; None and the like if they were not."""

    strong: Annotated[
        str | None,
        _strong(
            "Columns that an attacker who knows everything else wants to learn about a record, "
            'separated by commas. "*" is the whole record.'
        ),
    ] = None
    model: Annotated[options.Model, Reworded(panel=_STRONG)] = None
    prior: Annotated[
        Prior | None,
        _strong(
            "What the attacker believes before the release: candidates are as likely as the model "
            "predicts from the other records (informed), all equally likely (uniform), or as "
            "likely as they are frequent among the other records (marginal).",
            default="informed; with --command uniform",
        ),
    ] = None
    mode: Annotated[
        Mode | None,
        _strong(
            "fixed: keep the structure of the model and change its counts. refit: fit it again "
            "for each candidate, which takes long. auto: keep it, and fit it again for the most "
            "exposed people, as far as --refits goes.",
            default="auto",
        ),
    ] = None
    refits: Annotated[
        int | None,
        _strong(
            "How often the model may be fitted again, with --mode auto.",
            default="500, fewer for over 1,500 records",
            min=0,
        ),
    ] = None
    records: Annotated[
        str | None, _strong("Rows to attack, counted from 0: 0-99,999.", default="all")
    ] = None
    worst: Annotated[
        int,
        _strong("Show this many of the most exposed records, by row number.", default=True, min=0),
    ] = 0
    show_records: Annotated[
        bool,
        _strong(
            "Also show the guesses, which may be true values of the original, and let messages "
            "show values that fewer than 5 records have.",
            "--show-records",
        ),
    ] = False
    strong_output: Annotated[
        Path | None,
        _strong("Write a row for each record: .csv or .parquet. The file is confidential."),
    ] = None
    command: Annotated[
        str | None,
        _black_box(
            "The command that makes such a table, in place of --model: "
            '"Rscript synth.R {original} {synthetic} {seed}".'
        ),
    ] = None
    runs: Annotated[
        int | None, _black_box("How often to run it for each candidate.", default="100", min=1)
    ] = None
    cells: Annotated[
        str | None,
        _black_box("Columns whose combinations are counted, separated by commas.", default="all"),
    ] = None
    resume: Annotated[
        Path | None,
        _black_box("A file that keeps finished runs, so that an interrupted attack can go on."),
    ] = None

    @property
    def wanted(self) -> bool:
        """Whether the strong attacker is asked for."""
        return self.strong is not None

    def check(self, *, force: bool, shadows: bool = False) -> None:
        """Raise if options do not go together, or the table cannot be written.

        A model and a command are of use without the strong attacker: for membership.
        """
        if not self.wanted:
            names = [one.name for one in fields(self) if one.name not in ("model", SHOW_RECORDS)]
            if shadows:
                names.remove("command")
                if self.model is not None:
                    raise ParameterError("Give --model or --command, not both.")
            self._refuse(names, "--strong, which names what to learn")
            return
        if not self._names:
            raise ParameterError(
                'Give --strong a column, several with commas between them, or "*" for the whole '
                "record."
            )
        self._check_source()
        if self.records is not None:
            read_rows(self.records)
        # The messages of a command are records that may be shown, too.
        shown = self.worst or self.strong_output is not None or self.command is not None
        if self.show_records and not shown:
            raise ParameterError("--show-records needs --worst or --strong-output.")
        if self.strong_output is not None:
            from understudy.data.files import check_target

            check_target(self.strong_output, overwrite=force)

    def _check_source(self) -> None:
        """Raise if there is not one of model and command, or options are for the other one."""
        if self.model is not None and self.command is not None:
            raise ParameterError("Give --model or --command, not both.")
        if self.model is None and self.command is None:
            raise ParameterError(
                "--strong needs the --model that made the synthetic table (from `understudy synth "
                "--save-model`), or the --command that makes such tables."
            )
        if self.model is not None:
            self._refuse(("runs", "cells", "resume"), "--command")
            if self.mode not in {None, "auto"}:
                self._refuse(("refits",), "--mode auto")
        else:
            self._refuse(("mode", "refits"), "--model")
            if self.prior == "informed":
                raise ParameterError(
                    "--prior informed needs --model: a command does not say what it expects."
                )

    def _refuse(self, names: Sequence[str], other: str) -> None:
        """Raise if any of the options was given, because they need another one."""
        given = [spelled(name) for name in names if getattr(self, name) not in (None, False, 0)]
        if given:
            need = "needs" if len(given) == 1 else "need"
            raise ParameterError(f"{', '.join(given)} {need} {other}.")

    def check_table(self, original: pl.DataFrame) -> None:
        """Raise if a column or row is not in the original, before other attacks take their time."""
        if not self.wanted:
            return
        problems = unknown_columns(self._names, original.columns)
        if self._names != [_WHOLE] and problems:
            raise ParameterError(f"--strong: {' '.join(problems)}")
        self._rows(original)

    @property
    def _names(self) -> list[str]:
        return split_names(self.strong)

    def _rows(self, original: pl.DataFrame) -> list[int] | None:
        if self.records is None:
            return None
        return rows_in(read_rows(self.records), original.height)

    def source(self) -> Synthesizer | Command | None:
        """Return the model, read from its file, or the command; None if neither is wanted."""
        if self.model is not None:
            from understudy.synthesis import Synthesizer

            return Synthesizer.load(self.model)
        if self.command is not None:
            from understudy.risk import Command

            return Command(self.command)
        return None

    def attack(
        self,
        source: Synthesizer | Command,
        original: pl.DataFrame,
        synthetic: Sequence[pl.DataFrame],
        *,
        groups: Mapping[str, int] | None,
        processes: int,
        seed: int,
        units: Sequence[str] = (),
    ) -> StrongAttack:
        """Attack a release; groups and seed are for a command.

        With units, all records of one are unknown at once.
        """
        from understudy.risk import black_box_attacker, strong_attacker
        from understudy.synthesis import Synthesizer

        asked: dict[str, Any] = {
            "unknown": _WHOLE if self._names == [_WHOLE] else self._names,
            "records": self._rows(original),
            "processes": processes,
        }
        if units:
            return self._attack_units(source, original, synthetic, units)
        if isinstance(source, Synthesizer):
            asked |= {"prior": self.prior or "informed", "mode": self.mode or "auto"}
            return strong_attacker(source, original, list(synthetic), refits=self.refits, **asked)
        return black_box_attacker(
            source,
            original,
            list(synthetic),
            prior=self.prior or "uniform",
            cells=split_names(self.cells) if self.cells is not None else None,
            groups=groups,
            runs=self.runs or _RUNS,
            random_state=seed,
            resume=self.resume,
            **asked,
        )

    def _attack_units(
        self,
        source: Synthesizer | Command,
        original: pl.DataFrame,
        synthetic: Sequence[pl.DataFrame],
        units: Sequence[str],
    ) -> StrongAttack:
        from understudy.risk import strong_attacker_on_units
        from understudy.synthesis import Synthesizer

        given = {
            "--records": self.records,
            "--refits": self.refits,
            "--prior": self.prior,
            "--mode": None if self.mode == "fixed" else self.mode,
        }
        if unfit := [name for name, value in given.items() if value]:
            raise ParameterError(
                f"{listed(unfit)}: with --unit-id, --strong attacks all records of each unit "
                "together, given the structure of the model as published."
            )
        if not isinstance(source, Synthesizer) or self._names == [_WHOLE] or len(self._names) > 1:
            raise ParameterError(
                "--strong with --unit-id needs --model, and one column: the value that a unit's "
                "records share."
            )
        (unknown,) = self._names
        return strong_attacker_on_units(
            source, original, list(synthetic), unknown=unknown, unit_id=list(units)
        )

    def tables(self, found: StrongAttack) -> Iterator[RenderableType]:
        """Yield the results for the terminal."""
        from understudy.report.strong_table import strong_table, worst_table

        yield strong_table(found)
        if self.worst:
            yield worst_table(found, self.worst, guesses=self.show_records)

    def settings(self) -> dict[str, Any] | None:
        """Return what a file of results says of how they were made."""
        if not self.wanted:
            return None
        return {
            "command": self.command,
            "records": self.records,
            "refits": self.refits,
            "runs": None if self.command is None else self.runs or _RUNS,
            "cells": split_names(self.cells) if self.cells else None,
        }


def read_rows(text: str) -> list[range]:
    """Return row numbers that were given as single ones and as ranges, last row included.

    Examples
    --------
    >>> read_rows("0-99, 999")
    [range(0, 100), range(999, 1000)]
    """
    found = []
    for part in split_names(text):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        last = last if dash else first
        plain = first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal()
        if not plain or int(last) < int(first):
            raise ParameterError(
                f"--records must be row numbers from 0 and ranges of them, such as 0-99,999; got "
                f"{part!r}."
            )
        found.append(range(int(first), int(last) + 1))
    if not found:
        raise ParameterError("--records names at least one row, such as 0-99,999.")
    return found


def rows_in(ranges: list[range], height: int) -> list[int]:
    """Return the rows of ranges in a table of so many rows, each once and in order.

    Examples
    --------
    >>> rows_in([range(5, 7), range(0, 2), range(6, 7)], 10)
    [0, 1, 5, 6]
    """
    beyond = [rows[-1] for rows in ranges if rows[-1] >= height]
    if beyond:
        raise ParameterError(
            f"--records: there is no row {beyond[0]}; the original has the rows 0 to {height - 1}."
        )
    return sorted(set().union(*ranges))
