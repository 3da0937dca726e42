"""What an audit returns: the findings, and the forms in which they can be had."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import rendering
from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.gate_names import metrics_of
from understudy.audit.json_form import from_text, to_document, to_text
from understudy.audit.measures import MEASURES
from understudy.audit.measures.declaration import REFERENCES
from understudy.data.frames import Backend, to_backend
from understudy.errors import DataError, ParameterError, did_you_mean
from understudy.wording import share

if TYPE_CHECKING:
    from understudy.audit.advice import Advice
    from understudy.audit.verdict import Verdict

Commands = Callable[["Advice"], str | None]
"""Turns advice into what a user types: empty if there is nothing to type, and None if another piece
of advice does it already, so that this one is left out. Python code if there are no commands."""


@dataclass(frozen=True, eq=False)
class Audit:
    """All that was found about one or several releases; `understudy.audit` makes it.

    Parameters
    ----------
    findings : Findings
        Everything as plain values.
    """

    findings: Findings
    _backend: Backend = field(default="polars", repr=False)

    def __eq__(self, other: object) -> bool:
        """Tell whether both hold the same findings, where undefined values count as equal."""
        if not isinstance(other, Audit):
            return NotImplemented
        return to_document(self.findings) == to_document(other.findings)

    def __hash__(self) -> int:
        return hash((self.findings.created, self.findings.seed))

    @property
    def releases(self) -> tuple[str, ...]:
        """The names of the releases."""
        return tuple(release.name for release in self.findings.releases)

    @property
    def verdict(self) -> Verdict:
        """What the findings mean, in plain words."""
        from understudy.audit.verdict import give_verdict

        return give_verdict(self.findings)

    def metrics(self, release: str | None = None) -> dict[str, float]:
        """Return all figures of a release by the names that the gate knows.

        Parameters
        ----------
        release : str, optional
            Its name; needed if there are several.

        Raises
        ------
        ParameterError
            If there is no such release, or several and none is named.
        """
        return dict(metrics_of(self._release(release)))

    def _release(self, name: str | None) -> ReleaseFindings:
        found = self.findings.releases
        names = ", ".join(map(repr, self.releases))
        if name is None:
            if len(found) != 1:
                raise ParameterError(f"There are {len(found)} releases; name one of {names}.")
            return found[0]
        for release in found:
            if release.name == name:
                return release
        raise ParameterError(
            f"There is no release {name!r}; there are {names}."
            f"{did_you_mean(str(name), self.releases)}"
        )

    def to_frame(self, *, backend: Backend | None = None) -> Any:  # noqa: ANN401  # any kind
        """Return a row for each release and measure of risk; what is undefined is null.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame; that of the original if it is not given.

        Returns
        -------
        frame
            `release`, `measure`, `title`, then `baseline`, `synthetic`, `original`, `control`,
            `gain` and `spread` as shares of 1, and `note`.
        """
        import polars as pl

        rows = [
            (release.name, one) for release in self.findings.releases for one in release.figures
        ]
        texts = {
            "release": [name for name, _ in rows],
            "measure": [one.measure for _, one in rows],
            "title": [one.title for _, one in rows],
        }
        shares = {name: [getattr(one, name) for _, one in rows] for name in REFERENCES}
        frame = pl.DataFrame(
            {
                **{name: pl.Series(held, dtype=pl.String) for name, held in texts.items()},
                **{name: pl.Series(held, dtype=pl.Float64) for name, held in shares.items()},
                "note": pl.Series([one.note for _, one in rows], dtype=pl.String),
            }
        ).with_columns(pl.col(REFERENCES).fill_nan(None))
        return to_backend(frame, backend or self._backend)

    def utility_frame(self, *, backend: Backend | None = None) -> Any:  # noqa: ANN401  # any kind
        """Return a row for each release and measure of use; what is undefined is null.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame; that of the original if it is not given.

        Returns
        -------
        frame
            `release`, `measure`, `value`, and `reference`, what the value would be if nothing were
            lost: what sampling alone gives, or what real data give.
        """
        import polars as pl

        rows = [
            (release.name, *row)
            for release in self.findings.releases
            for measure in MEASURES
            for row in measure.use(release)
        ]
        columns: list[tuple[str, Any]] = [
            ("release", pl.String),
            ("measure", pl.String),
            ("value", pl.Float64),
            ("reference", pl.Float64),
        ]
        frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
            pl.col("value", "reference").fill_nan(None)
        )
        return to_backend(frame, backend or self._backend)

    def to_json(self, path: str | Path | None = None, *, overwrite: bool = False) -> str:
        """Return the findings as JSON, and write them to a file if one is named.

        Parameters
        ----------
        path : path, optional
            The file, which is written whole or not at all.
        overwrite : bool
            Whether an existing file may be replaced.

        Notes
        -----
        ``audit.schema.json`` in `understudy.audit` describes the document.
        """
        text = to_text(self.findings)
        if path is not None:
            from understudy.data.files import write_bytes

            write_bytes(f"{text}\n".encode(), path, overwrite=overwrite)
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Audit:
        """Read what `to_json` wrote, from a file or from its text.

        Parameters
        ----------
        source : path or str
            The file, or the text of the document.

        Raises
        ------
        DataError
            If there is no such file, or it is no audit, or one of another version.
        """
        if isinstance(source, str) and source.lstrip().startswith(("{", "[")):
            return cls(from_text(source))
        path = Path(source)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise DataError(f"There is no file {path}.") from None
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is not text in UTF-8, so it cannot be JSON.") from error
        except OSError as error:
            raise DataError(f"{path} cannot be opened: {error.strerror}.") from error
        try:
            return cls(from_text(text))
        except DataError as error:
            raise DataError(f"{path}: {error}") from error

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        overwrite: bool = False,
        show_records: bool | None = None,
        commands: Commands | None = None,
    ) -> str:
        """Return the report, a page that needs no network, and write it if a file is named.

        Parameters
        ----------
        path : path, optional
            The file, which is written whole or not at all; its name ends in .html.
        overwrite : bool
            Whether an existing file may be replaced.
        show_records : bool, optional
            Whether the page shows the values of the records at the highest risk; if not said, it
            does so if the audit was asked for them.
        commands : callable, optional
            Turns advice into what the reader is to type; Python code by default.
        """
        report = rendering.report()
        shown = self.shows_records if show_records is None else show_records
        how: dict[str, Any] = {
            "verdict": self.verdict,
            "show_records": shown,
            "commands": commands,
        }
        if path is None:
            return str(report.render_report(self.findings, **how))
        written: Path = report.write_report(self.findings, path, overwrite=overwrite, **how)
        return written.read_text(encoding="utf-8")

    @property
    def shows_records(self) -> bool:
        """Whether values of single records are among the findings."""
        return any(record.values for release in self.findings.releases for record in release.worst)

    def summary(self) -> str:
        """Return the verdict in words, and a small table of the measures of risk."""
        verdict = self.verdict
        lines = [verdict.headline, *verdict.sentences, *self.findings.notes]
        several = len(self.findings.releases) > 1
        for release, judged in zip(self.findings.releases, verdict.releases, strict=True):
            lines.append("")
            if several:
                lines.append(f"{release.name}: {judged.headline}")
            lines += [answer.said(self.findings.units) for answer in judged.answers.values()]
            lines += judged.sentences
            lines += ["", *_table(release.figures)]
            lines += [f"Not measured: {name}. {text}" for name, text in release.errors.items()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Audit of {', '.join(self.releases)} ({self.findings.measures} measures)"

    def _repr_html_(self) -> str:
        """Return the headline, the number line and the table, for notebooks."""
        from understudy.results import Line, draw_number_line, html_table

        several = len(self.releases) > 1
        lines = [
            Line(
                f"{one.title}, {release.name}" if several else one.title,
                one.meaning,
                *(getattr(one, name) for name in REFERENCES[:4]),
            )
            for release in self.findings.releases
            for one in release.figures
        ]
        drawn = draw_number_line("What an attacker guesses", lines)
        table = html_table(self.to_frame(backend="polars").drop("note"))
        return f"<div><p><b>{html.escape(self.verdict.headline)}</b></p>{drawn}{table}</div>"


def _table(figures: tuple[Figure, ...]) -> Iterator[str]:
    """Yield a table in plain text, in percent."""
    shown = ["baseline", "synthetic", "original", "gain"]
    if any(not math.isnan(one.control) for one in figures):
        shown.insert(3, "control")
    width = max((len(one.title) for one in figures), default=0)
    yield " ".join([" " * width, *(f"{name:>10}" for name in shown)])
    for one in figures:
        cells = [_percent(getattr(one, name), signed=name == "gain") for name in shown]
        yield " ".join([one.title.ljust(width), *(f"{cell:>10}" for cell in cells)])


def _percent(value: float, *, signed: bool = False) -> str:
    if math.isnan(value):
        return "-"
    return f"{100 * value:+.1f}" if signed else share(value)
