"""A release as a folder: what may leave the building, and apart from it what must not.

The synthetic tables and a README.md are at the top. In ``confidential`` are the model, from which
records of the original can be learnt, the report and the findings, which were measured on the
original, and the schema, which holds its ranges and levels. If the release failed its gate, the
tables are in ``confidential``, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.cli.advice_commands import AdviceCommands
from understudy.cli.options import numbered
from understudy.cli.privacy_options import described_model
from understudy.cli.session import check_folder, replaced_folder
from understudy.data.files import SUFFIXES, suffix_like, write_bytes
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from understudy.audit import Audit
    from understudy.cli.options import Place
    from understudy.privacy import Ledger
    from understudy.synthesis import Synthesizer

CONFIDENTIAL = "confidential"
README = "README.md"
MODEL = "model.us"
KEPT_BACK = "kept-back.txt"

_TABLE = rf"synthetic(-[0-9]+)?({'|'.join(map(re.escape, SUFFIXES))})"
_INSIDE = {
    "report.html": "the report, to open in a browser",
    "audit.json": "all findings, for programs",
    MODEL: "",  # see `described_model`
    "schema.toml": "what the columns are, with levels and ranges of the original",
    KEPT_BACK: "the rows of the original that were kept back, to audit the release again",
}
_WARNING = (
    "**This release failed its gate. Nothing in this folder may leave.** The report says "
    f"why. The synthetic data are in `{CONFIDENTIAL}`."
)
_HIGH = (
    "**The risk found is high. This release should not leave the building.** The report says why, "
    "and what to try next."
)
_MAY = {
    "low": "may leave, if the person responsible for the original agrees",
    "raised": "may leave only if the person responsible for the original accepts a raised risk",
    "high": "**should not leave the building**: the risk is high",
}
_UNKNOWN = (
    "**should not leave before more is measured**, unless the person responsible for the original "
    "accepts that it is not known how high the risk is"
)
_OPEN = "What was not measured does not count as passed. The report says how to find out."
_DRAWN = {
    "low": "The records are drawn from a statistical model of a confidential table, not taken from "
    "it.",
    "raised": "The records are drawn from a statistical model of a confidential table. Some may be "
    "records of that table, or nearly so.",
    "high": "The records are drawn from a statistical model of a confidential table. Records of "
    "that table, or nearly the same ones, are among them.",
    "not measured": "The records are drawn from a statistical model of a confidential table. "
    "Whether records of that table are among them could not be told.",
}
"""Where the records come from, by what was found about the original's."""
_PASS_ON = (
    f"Delete the folder `{CONFIDENTIAL}` from any copy that you pass on, or pass on the other "
    "files by themselves."
)
_MUST = "**must stay**: confidential"


@dataclass(frozen=True, eq=False)
class Release:
    """A release that is made and audited, with what its README says about that.

    Parameters
    ----------
    model : Synthesizer
        What made its tables.
    rows : int
        The rows of each of them.
    found : Audit
        What was found about it, or if it is `final`, about the one from fewer records.
    kept_back : bool
        Whether some of the records were kept back, to test it.
    final : bool
        Whether its tables were made anew from all records, after the audit.
    failed : bool
        Whether it failed its gate.
    prepared : str
        What was done to the table before the synthesis, in words; empty if nothing was.
    """

    model: Synthesizer
    rows: int
    found: Audit
    kept_back: bool
    final: bool
    failed: bool
    prepared: str = ""


@dataclass(frozen=True)
class ReleaseFolder:
    """Where a release is to be, and what its synthetic tables are called."""

    path: Path
    tables: tuple[str, ...]
    overwrite: bool

    @classmethod
    def planned(cls, path: Path, data: Place, copies: int, *, overwrite: bool) -> ReleaseFolder:
        """Return the folder for so many synthetic tables, in the format of the original."""
        tables = numbered(Path(f"synthetic{suffix_like(data)}"), copies)
        return cls(path, tuple(table.name for table in tables), overwrite)

    def check(self, inputs: Sequence[Place | None]) -> None:
        """Raise before any work if the folder cannot be written, or holds what is read."""
        check_folder(self.path, _is_ours, overwrite=self.overwrite, inputs=inputs)

    @contextmanager
    def being_made(self) -> Iterator[Path]:
        """Give a folder to be filled; it is there as the release at the end of the block."""
        with replaced_folder(self.path, _is_ours, overwrite=self.overwrite) as folder:
            (folder / CONFIDENTIAL).mkdir(mode=0o700)
            yield folder

    def describe(
        self, folder: Path, release: Release, commands: AdviceCommands, kept_back: str = ""
    ) -> None:
        """Add the report, the findings, the model, the schema and the README to a folder.

        If the release failed its gate, its tables are put with what is confidential. `kept_back`
        names the rows that it was not made from, if there are any.
        """
        inside = folder / CONFIDENTIAL
        release.found.to_html(inside / "report.html", commands=commands)
        release.found.to_json(inside / "audit.json")
        release.model.save(inside / MODEL, with_times=True)
        release.model.schema_.save(inside / "schema.toml")
        if kept_back:
            write_bytes(kept_back.encode(), inside / KEPT_BACK)
        if release.failed:
            for name in self.tables:
                (folder / name).rename(inside / name)
        text = readme(release, self.tables)
        write_bytes(text.encode(), folder / README)

    def table_and_model(self, *, failed: bool) -> tuple[Path, Path]:
        """Return where the first synthetic table and the model are in the finished release."""
        inside = self.path / CONFIDENTIAL
        return (inside if failed else self.path) / self.tables[0], inside / MODEL

    def contents(self, model: Synthesizer, *, failed: bool, kept_back: bool) -> Mapping[Path, str]:
        """Return the files of the finished release, and what each of them is."""
        tables = self.path / CONFIDENTIAL if failed else self.path
        what = "a synthetic table that failed the gate" if failed else "the synthetic table"
        return {
            **{tables / name: what for name in self.tables},
            self.path / README: "what the release is, and which files may leave",
            **{self.path / CONFIDENTIAL / name: text for name, text in _inside(model, kept_back)},
        }


def _inside(model: Synthesizer, kept_back: bool) -> Iterator[tuple[str, str]]:
    """Yield the confidential files of a release, and what each of them is."""
    for name, text in _INSIDE.items():
        if kept_back or name != KEPT_BACK:
            yield name, described_model(model) if name == MODEL else text


def _is_ours(name: str) -> bool:
    inside = name.removeprefix(f"{CONFIDENTIAL}/")
    if re.fullmatch(_TABLE, inside):
        return True
    return inside in _INSIDE if inside != name else name in (README, CONFIDENTIAL)


def readme(release: Release, tables: Sequence[str]) -> str:
    """Return the README of a release, which may leave with it.

    It holds no figure of the original, and no seed: whoever knows the seed can repeat what the
    model drew.
    """
    from understudy.audit.answers import questions_about
    from understudy.audit.verdict import other_limits

    model, failed = release.model, release.failed
    findings, verdict = release.found.findings, release.found.verdict
    levels = {answer.level for answer in verdict.releases[0].answers.values()}
    names = ", ".join(map(code, model.schema_.names))
    files = ", ".join(map(code, tables))
    parts = [
        "# Synthetic data",
        *([_WARNING] if failed else [_HIGH] if verdict.level == "high" else []),
        f"{files}: {release.rows:,} rows and {len(model.schema_)} columns ({names}). "
        f"{_DRAWN[verdict.releases[0].answers['records'].level]} "
        "Shares and relations resemble those of the original as far as the model keeps them. "
        "Check what matters on the original before you rely on it.",
        "## How it was made",
        f"With understudy {findings.version}, method {code(model.method)}, on "
        f"{findings.created[:10]}.{_protection(model)}{_kept(model)}{_prepared(release)}",
        *_privacy(release),
        "## How it was checked",
        f"understudy attacked {_attacked(release)} in the role of somebody who wants to learn "
        f"{code(findings.sensitive)} and knows {_knowledge(findings.keys, findings.known)}. The "
        f"risk found by these attacks: **{verdict.level}**. An attacker who knows more, or tries "
        f"something else, may learn more.{_tested(release)}",
        markdown_table(
            ["question", "answer"],
            [
                (questions_about(findings.units)[question], f"**{answer.level}**")
                for question, answer in verdict.releases[0].answers.items()
            ],
        ),
        *([_OPEN] if "not measured" in levels else []),
        *([other] if (other := other_limits(findings.limits)) else []),
        "## What may leave, and what must stay",
        markdown_table(["file", "may it leave?"], _rows(release, tables)),
        *([] if failed or verdict.level == "high" else [_PASS_ON]),
    ]
    return "\n\n".join(parts) + "\n"


def _privacy(release: Release) -> Iterator[str]:
    """Yield what a private release promises, and how that was paid for."""
    ledger: Ledger | None = getattr(release.model, "ledger_", None)
    if ledger is None:
        return
    yield "## What it promises"
    yield (
        f"{ledger.in_words()} This holds for the tables and for the ledger below. It does not hold "
        "for what else this file says about risk, which was measured on the original: where the "
        "promise must hold for all that leaves, keep this file."
    )
    if release.final:
        yield (
            "**Two releases were paid for**: this one, and the one from a part of the records that "
            "was attacked in its place. Together they cost twice as much."
        )
    yield f"Every question that was asked of the original, with noise by OpenDP {ledger.opendp}:"
    yield markdown_table(
        list(ledger.headings), [(code(what), *rest) for what, *rest in ledger.lines()]
    )
    yield "Taken for public:"
    yield "\n".join(f"- {sentence}" for sentence in ledger.public)


def _protection(model: Synthesizer) -> str:
    protected: Mapping[str, str | None] = getattr(model, "protect", None) or {}
    return "".join(
        f" All links of {code(sensitive)} to other columns were cut"
        + (f", except to {code(target)}" if target else "")
        + ": do not study them here."
        for sensitive, target in protected.items()
    )


def _prepared(release: Release) -> str:
    return f" {release.prepared}" if release.prepared else ""


def _attacked(release: Release) -> str:
    another = "**another release, made with the same settings from a part of the records**,"
    return another if release.final else "it"


def _tested(release: Release) -> str:
    if not release.kept_back:
        return ""
    told = (
        " Some of the original's records were kept back, to compare those in the data with those "
        "that are not."
    )
    if release.final:
        return f"{told} The release in this folder was made afterwards, from all records."
    return f"{told} The release was made from the others."


def _kept(model: Synthesizer) -> str:
    listed = ", ".join(map(code, model.kept_columns))
    told = f" **The values of {listed} are those of the original, record by record.**"
    return told if listed else ""


def _knowledge(keys: Sequence[str], known: int | None) -> str:
    listed = ", ".join(map(code, keys))
    return listed if known in (None, len(keys)) else f"any {known} of {listed}"


def _rows(release: Release, tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    failed = release.failed
    may = _MUST if failed else _MAY.get(release.found.verdict.level, _UNKNOWN)
    for name in tables:
        yield code(f"{CONFIDENTIAL}/{name}" if failed else name), may
    yield code(README), may
    for name, what in _inside(release.model, release.kept_back and not release.final):
        yield code(f"{CONFIDENTIAL}/{name}"), f"{_MUST}; {what}"


def code(name: str) -> str:
    r"""Return a name as code in Markdown, whatever characters it has.

    Examples
    --------
    >>> code("age"), code("a|b`c")
    ('`age`', '`` a\\|b`c ``')
    """
    plain = " ".join(name.split()).replace("|", "\\|")
    return f"`{plain}`" if "`" not in plain else f"`` {plain} ``"
