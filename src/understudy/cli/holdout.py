"""Records that `run` and `compare` keep back from the synthesis, and what is told about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from understudy.cli import options
from understudy.cli.option_groups import repeated
from understudy.cli.privacy_options import is_private
from understudy.errors import DataError, ParameterError

if TYPE_CHECKING:
    from understudy.audit import Audit
    from understudy.cli.audit_options import AuditOptions
    from understudy.cli.preparation import Prepared
    from understudy.data import Parts
    from understudy.synthesis import Synthesizer

SHARE, MOST = 0.2, 0.5
"""What is kept back unless it is said otherwise, and the most that can be."""


_ONE_MORE = (
    "with --neighbours add-remove, one record more would change which of the others are kept back. "
    "Use --neighbours change-one, or give other records with --control."
)
_ALIKE = (
    "This audit compares with the original grouped alike: the attacker knows which values were "
    "grouped."
)


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """How many records no synthesis sees."""

    holdout: Annotated[
        float | None,
        options.audit_option(
            "Share of the records to keep back from the synthesis. They are the control records "
            "of every attack, and the predictions are tested on them. 0 for none.",
            default=f"{SHARE}; 0 with --control",
            min=0,
            max=MOST,
        ),
    ] = None

    def check(self, asked: AuditOptions, files: Sequence[str] = ()) -> None:
        """Raise if records cannot be kept back although it is asked for, before any work."""
        if not self.holdout:
            return
        if asked.attacker.control is not None:
            raise ParameterError("--control and --holdout exclude each other: leave out one.")
        if files:
            raise ParameterError(
                f"--holdout needs methods only: {files[0]!r} is a file, which may be made from all "
                "records. Give records that it was not made from with --control."
            )

    def part(
        self,
        everybody: Any,  # noqa: ANN401  # a frame
        asked: AuditOptions,
        seed: int,
        files: Sequence[str] = (),
        units: Sequence[str] = (),
        models: Iterable[Synthesizer] = (),
    ) -> KeptBack:
        """Keep records back, with the sensitive column spread alike, if the releases allow it.

        If every column is tried as the sensitive one, none is spread alike. Nor is any if one of
        the `models` is private: which records it sees must not depend on any of them. If `units`
        names some, whole ones are kept back.
        """
        from understudy.data import hold_out

        share = SHARE if self.holdout is None else self.holdout
        reason = ""
        if files and share and asked.attacker.control is None:
            reason = (
                f"{files[0]!r} may be made from all of them. Give records that it was not made "
                "from with --control."
            )
        if files or asked.attacker.control is not None:
            share = 0
        private = [model for model in models if is_private(model)]
        if share and any(model.get_params()["neighbours"] == "add-remove" for model in private):
            if self.holdout:
                raise ParameterError(f"--holdout: {_ONE_MORE}")
            share, reason = 0, _ONE_MORE
        by = None if private else asked.sensitive
        parts = hold_out(everybody, share, by=by, unit_id=units, random_state=seed)
        why = reason or parts.reason
        return KeptBack(parts, by, asked.tests_on_control, why, units=tuple(units))

    def again(
        self, asked: AuditOptions, copies: int, files: Sequence[str] = (), *, final: bool = False
    ) -> Rerun:
        """Return how `run` keeps back as many records, and makes as many tables."""
        share = SHARE if self.holdout is None else self.holdout
        control = asked.attacker.control is not None
        return Rerun(0 if files else share, copies, control=control, final=final)


KeptBackFile = Annotated[
    Path | None,
    options.attacker_option(
        "The rows of the original that `understudy run` kept back: `confidential/kept-back.txt` of "
        "its folder. They are the control records, and the release is audited as made from the "
        "others."
    ),
]


@dataclass(frozen=True)
class Rerun:
    """How `run` does again what was done: the share it keeps back, and the tables it makes.

    `control` tells whether control records are given, so that none are kept back; `final`, whether
    the release is then made anew from all records.
    """

    share: float
    copies: int = 1
    control: bool = False
    final: bool = False

    @property
    def words(self) -> list[str]:
        """The options for as many records."""
        return self._words(self.share)

    @property
    def more(self) -> list[str] | None:
        """The options for more records; None if no more can be kept back."""
        if self.control or self.share >= MOST:
            return None
        return self._words(min(MOST, 2 * self.share) if self.share else SHARE)

    def _words(self, share: float) -> list[str]:
        given = None if self.control or share == SHARE else f"{share:g}"
        copies = self.copies if self.copies > 1 else None
        return [*repeated({"holdout": given, "copies": copies}), *["--final"] * self.final]


def _count(frame: Any, units: Sequence[str]) -> int:  # noqa: ANN401  # a frame
    """Return how many units the records of a table belong to."""
    from understudy.data.units import units_of

    return int(units_of(frame, units).max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class KeptBack:
    """The records that the synthesis sees, and those that it does not.

    Parameters
    ----------
    parts : Parts
        Both.
    by : str or None
        The column that is spread alike in both, if there is one.
    predicted : bool
        Whether predictions are tested on the records that were kept back.
    reason : str
        Why nothing was kept back, if there is something to say about it.
    prepared_note : str
        What was done to all records before the synthesis, if anything was.
    units : tuple of str
        The columns that name units, of which whole ones were kept back; empty if none are named.
    """

    parts: Parts
    by: str | None
    predicted: bool
    reason: str = ""
    prepared_note: str = ""
    units: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path, everybody: Any, asked: AuditOptions) -> KeptBack:  # noqa: ANN401
        """Keep back the rows that a file names, one a line, counted from 0."""
        import numpy as np

        from understudy.data import Parts

        if asked.attacker.control is not None:
            raise ParameterError("--control and --kept-back exclude each other: leave out one.")
        try:
            rows = [int(line) for line in path.read_text(encoding="utf-8").split()]
        except (OSError, ValueError) as error:
            raise DataError(
                f"{path} cannot be read: it should name a row of the original in each line."
            ) from error
        back = np.zeros(len(everybody), bool)
        if not rows or min(rows) < 0 or max(rows) >= len(back):
            raise DataError(
                f"{path} does not fit the original, which has {len(back):,} rows. Give the table "
                "from which `understudy run` made the release."
            )
        back[rows] = True
        parts = Parts(everybody.filter(~back), everybody.filter(back), np.flatnonzero(~back))
        return cls(parts, None, asked.tests_on_control)

    def prepared(self, ready: Prepared) -> KeptBack:
        """Return both, changed as the records were that the synthesis sees."""
        parts = replace(self.parts, kept=ready.frame, held_out=ready.alike(self.parts.held_out))
        return replace(self, parts=parts, prepared_note=ready.note)

    def written(self) -> str:
        """Return the rows that were kept back as the text of a file; empty if there are none."""
        if self.control is None:
            return ""
        kept = set(self.parts.rows.tolist())
        rows = range(len(self.kept) + len(self.control))
        return "".join(f"{row}\n" for row in rows if row not in kept)

    def again(self) -> Rerun:
        """Return how `run` keeps back such a share of the records."""
        share = len(self.control) / (len(self.kept) + len(self.control))
        return Rerun(min(MOST, round(share, 2)))

    @property
    def kept(self) -> Any:  # noqa: ANN401  # a frame
        """The records to synthesize from."""
        return self.parts.kept

    @property
    def control(self) -> Any:  # noqa: ANN401  # a frame
        """The records that were kept back; None if there are none."""
        return self.parts.held_out

    @cached_property
    def note(self) -> str:
        """What was kept back, in words; empty if nothing was, and nobody expected it."""
        if self.control is None:
            return f"No records were kept back: {self.reason}" if self.reason else ""
        kept, back = len(self.kept), len(self.control)
        share = f"{back / (kept + back):.0%}"
        tested = ", and predictions are tested on them" if self.predicted else ""
        alike = f" with {self.by!r} spread alike" if self.by else ""
        records = f"{back:,} of {kept + back:,} records ({share})"
        if self.units:
            inside, outside = (_count(part, self.units) for part in (self.kept, self.control))
            records = f"{outside:,} of {inside + outside:,} units, with {records},"
        return (
            f"{records} were kept back, drawn at random{alike}. They are the control records of "
            f"every attack{tested}. The synthesis saw only the other {kept:,}."
        )

    def final_note(self) -> str:
        """Say that the release was made anew from all records, and which one was audited."""
        kept, back = len(self.kept), len(self.control)
        return (
            f"The final release was made afterwards from all {kept + back:,} records, with the "
            f"same settings and seed. This audit is of the release from {kept:,} of them, which "
            "was not kept. The final release was not audited itself."
        )

    def tell(self, found: Audit, *, final: bool = False) -> Audit:
        """Return what was found with what must be known, and with rows of the whole table."""
        notes = [*found.findings.notes, *([self.note] if self.note else [])]
        if self.prepared_note:
            notes.append(f"{self.prepared_note} {_ALIKE}")
        if final:
            notes.append(self.final_note())
        rows = self.parts.rows
        releases = tuple(
            replace(
                release,
                worst=tuple(
                    replace(record, record=int(rows[record.record])) for record in release.worst
                ),
            )
            for release in found.findings.releases
        )
        return replace(
            found, findings=replace(found.findings, releases=releases, notes=tuple(notes))
        )
