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
from understudy.cli.session import check_folder, replaced_folder
from understudy.data.dialect import is_parquet
from understudy.data.files import SUFFIXES, write_bytes
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from understudy.audit import Audit
    from understudy.synthesis import Synthesizer

CONFIDENTIAL = "confidential"
README = "README.md"

_TABLE = rf"synthetic(-[0-9]+)?({'|'.join(map(re.escape, SUFFIXES))})"
_INSIDE = {
    "report.html": "the report, to open in a browser",
    "audit.json": "all findings, for programs",
    "model.us": "the model, as confidential as the data",
    "schema.toml": "what the columns are, with levels and ranges of the original",
}
_WARNING = (
    "**This release failed its gate. Nothing in this folder may leave.** The report says "
    f"why. The synthetic data are in `{CONFIDENTIAL}`."
)


@dataclass(frozen=True)
class ReleaseFolder:
    """Where a release is to be, and what its synthetic tables are called."""

    path: Path
    tables: tuple[str, ...]
    overwrite: bool

    @classmethod
    def planned(cls, path: Path, data: Path, copies: int, *, overwrite: bool) -> ReleaseFolder:
        """Return the folder for so many synthetic tables, in the format of the original."""
        suffix = data.suffix.lower() if data.suffix.lower() in SUFFIXES else ".csv"
        if data.is_file() and is_parquet(data):
            suffix = ".parquet"
        tables = numbered(Path(f"synthetic{suffix}"), copies)
        return cls(path, tuple(table.name for table in tables), overwrite)

    def check(self, inputs: Sequence[Path | None]) -> None:
        """Raise before any work if the folder cannot be written, or holds what is read."""
        check_folder(self.path, _is_ours, overwrite=self.overwrite, inputs=inputs)

    @contextmanager
    def being_made(self) -> Iterator[Path]:
        """Give a folder to be filled; it is there as the release at the end of the block."""
        with replaced_folder(self.path, _is_ours, overwrite=self.overwrite) as folder:
            (folder / CONFIDENTIAL).mkdir(mode=0o700)
            yield folder

    def describe(
        self,
        folder: Path,
        model: Synthesizer,
        found: Audit,
        commands: AdviceCommands,
        *,
        failed: bool,
    ) -> None:
        """Add the report, the findings, the model, the schema and the README to a folder.

        If the release failed its gate, its tables are put with what is confidential.
        """
        inside = folder / CONFIDENTIAL
        found.to_html(inside / "report.html", commands=commands)
        found.to_json(inside / "audit.json")
        model.save(inside / "model.us")
        model.schema_.save(inside / "schema.toml")
        if failed:
            for name in self.tables:
                (folder / name).rename(inside / name)
        text = readme(model, found, self.tables, failed=failed)
        write_bytes(text.encode(), folder / README)

    def contents(self, *, failed: bool) -> Mapping[Path, str]:
        """Return the files of the finished release, and what each of them is."""
        tables = self.path / CONFIDENTIAL if failed else self.path
        what = "a synthetic table that failed the gate" if failed else "the synthetic table"
        return {
            **{tables / name: what for name in self.tables},
            self.path / README: "what the release is, and which files may leave",
            **{self.path / CONFIDENTIAL / name: text for name, text in _INSIDE.items()},
        }


def _is_ours(name: str) -> bool:
    inside = name.removeprefix(f"{CONFIDENTIAL}/")
    if re.fullmatch(_TABLE, inside):
        return True
    return inside in _INSIDE if inside != name else name in (README, CONFIDENTIAL)


def readme(model: Synthesizer, found: Audit, tables: Sequence[str], *, failed: bool) -> str:
    """Return the README of a release, which may leave with it.

    It holds no figure of the original, and no seed: whoever knows the seed can repeat what the
    model drew.
    """
    findings, verdict = found.findings, found.verdict
    release = findings.releases[0]
    names = ", ".join(map(code, model.schema_.names))
    files = ", ".join(map(code, tables))
    parts = [
        "# Synthetic data",
        *([_WARNING] if failed else []),
        f"{files}: {release.rows:,} rows and {len(model.schema_)} columns ({names}). The records "
        "are drawn from a statistical model of a confidential table, not taken from it. "
        "Shares and relations resemble those of the original as far as the model keeps them. "
        "Check what matters on the original before you rely on it.",
        "## How it was made",
        f"With understudy {findings.version}, method {code(model.method)}, on "
        f"{findings.created[:10]}.{_protection(model)}{_kept(model)}",
        "## How it was checked",
        "understudy attacked it in the role of somebody who wants to learn "
        f"{code(findings.sensitive)} and knows {_knowledge(findings.keys, findings.known)}. The "
        f"risk found by these attacks: **{verdict.level}**. An attacker who knows more, or tries "
        "something else, may learn more.",
        "## What may leave, and what must stay",
        markdown_table(["file", "may it leave?"], _rows(tables, failed=failed)),
        f"Delete the folder {code(CONFIDENTIAL)} from any copy that you pass on, or pass on the "
        "other files by themselves.",
    ]
    return "\n\n".join(parts) + "\n"


def _protection(model: Synthesizer) -> str:
    protected: Mapping[str, str | None] = getattr(model, "protect", None) or {}
    return "".join(
        f" All links of {code(sensitive)} to other columns were cut"
        + (f", except to {code(target)}" if target else "")
        + ": do not study them here."
        for sensitive, target in protected.items()
    )


def _kept(model: Synthesizer) -> str:
    listed = ", ".join(map(code, model.kept_columns))
    told = f" **The values of {listed} are those of the original, person by person.**"
    return told if listed else ""


def _knowledge(keys: Sequence[str], known: int | None) -> str:
    listed = ", ".join(map(code, keys))
    return listed if known in (None, len(keys)) else f"any {known} of {listed}"


def _rows(tables: Sequence[str], *, failed: bool) -> Iterator[tuple[str, str]]:
    may = "may leave, if the person responsible for the original agrees"
    must = "**must stay**: confidential"
    for name in tables:
        shown = f"{CONFIDENTIAL}/{name}" if failed else name
        yield code(shown), must if failed else may
    yield code(README), must if failed else may
    for name, what in _INSIDE.items():
        yield code(f"{CONFIDENTIAL}/{name}"), f"{must}; {what}"


def code(name: str) -> str:
    r"""Return a name as code in Markdown, whatever characters it has.

    Examples
    --------
    >>> code("age"), code("a|b`c")
    ('`age`', '`` a\\|b`c ``')
    """
    plain = " ".join(name.split()).replace("|", "\\|")
    return f"`{plain}`" if "`" not in plain else f"`` {plain} ``"
