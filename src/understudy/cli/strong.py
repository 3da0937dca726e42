"""The strong attacker as the command line asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import attack_options as options
from understudy.cli import values
from understudy.errors import ParameterError, unknown_columns

if TYPE_CHECKING:
    import polars as pl

    from understudy.risk import Command, StrongAttack
    from understudy.synthesis import Synthesizer


_ALL = (
    "model", "command", "prior", "mode", "records", "runs", "cells", "resume", "worst",
    "show_records", "output",
)  # fmt: skip
_SPELT = {"output": "--strong-output"}
_RUNS = 100
_WHOLE = "*"


@dataclass(frozen=True)
class StrongOptions:
    """The options of the strong attacker as they were given; None and the like if they were not."""

    strong: str | None
    model: Path | None
    command: str | None
    prior: options.Prior | None
    mode: options.Mode | None
    records: str | None
    runs: int | None
    cells: str | None
    resume: Path | None
    worst: int
    show_records: bool
    output: Path | None

    @property
    def wanted(self) -> bool:
        """Whether the strong attacker is asked for."""
        return self.strong is not None

    def check(self, *, force: bool) -> None:
        """Raise if options do not go together, or the table cannot be written."""
        if not self.wanted:
            self._refuse(_ALL, "--strong, which names what is to be learned")
            return
        if not self._names:
            raise ParameterError(
                'Give --strong a column, several with commas between them, or "*" for the whole '
                "record."
            )
        if self.model is not None and self.command is not None:
            raise ParameterError("Give --model or --command, not both.")
        if self.model is None and self.command is None:
            raise ParameterError(
                "--strong needs the --model that made the synthetic table (from `understudy synth "
                "--save-model`), or the --command that makes such tables."
            )
        if self.model is not None:
            self._refuse(("runs", "cells", "resume"), "--command")
        else:
            self._refuse(("mode",), "--model")
            if self.prior is options.Prior.informed:
                raise ParameterError(
                    "--prior informed goes with --model: a command does not tell what it expects."
                )
        if self.records is not None:
            values.read_rows(self.records)
        if self.show_records and not self.worst and self.output is None:
            raise ParameterError("--show-records goes with --worst or --strong-output.")
        if self.output is not None:
            from understudy.data.files import check_target

            check_target(self.output, overwrite=force)

    def _refuse(self, names: tuple[str, ...], other: str) -> None:
        """Raise if any of the options was given, since they go with another."""
        given = [
            _SPELT.get(name, f"--{name.replace('_', '-')}")
            for name in names
            if getattr(self, name) not in (None, False, 0)
        ]
        if given:
            goes = "goes" if len(given) == 1 else "go"
            raise ParameterError(f"{', '.join(given)} {goes} with {other}.")

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
        return values.split_names(self.strong or "")

    def _rows(self, original: pl.DataFrame) -> list[int] | None:
        if self.records is None:
            return None
        return values.rows_in(values.read_rows(self.records), original.height)

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
        synthetic: pl.DataFrame,
        *,
        groups: Mapping[str, int] | None,
        processes: int,
        seed: int,
    ) -> StrongAttack:
        """Attack a release; groups and seed are for a command."""
        from understudy.risk import black_box_attacker, strong_attacker
        from understudy.synthesis import Synthesizer

        unknown = _WHOLE if self._names == [_WHOLE] else self._names
        prior = (self.prior or options.Prior.uniform).value
        rows = self._rows(original)
        if isinstance(source, Synthesizer):
            return strong_attacker(
                source,
                original,
                synthetic,
                unknown=unknown,
                prior=prior,
                mode=(self.mode or options.Mode.fixed).value,
                records=rows,
                processes=processes,
            )
        return black_box_attacker(
            source,
            original,
            synthetic,
            unknown=unknown,
            records=rows,
            prior=prior,
            cells=values.split_names(self.cells) if self.cells is not None else None,
            groups=groups,
            runs=self.runs or _RUNS,
            random_state=seed,
            resume=self.resume,
            processes=processes,
        )

    def per_record(self, found: StrongAttack) -> pl.DataFrame:
        """Return the table to write; with what tells values only if records may be shown."""
        frame: pl.DataFrame = found.to_frame(values=self.show_records, backend="polars")
        return frame

    def settings(self) -> dict[str, Any] | None:
        """Return what a file of results says of how they were made."""
        if not self.wanted:
            return None
        return {
            "command": self.command,
            "records": self.records,
            "runs": None if self.command is None else self.runs or _RUNS,
            "cells": values.split_names(self.cells) if self.cells else None,
        }
