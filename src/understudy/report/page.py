"""The report: one page with the verdict, the charts and how they came about, in a single file.

The page asks for nothing from any network: the drawing library is in it, and a content security
policy lets nothing else run or load. Charts are drawn by an interpreter of expressions
(vega-embed's `ast`), so that the policy need not allow code that is made from text.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import re
from collections.abc import Iterable
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import wording
from understudy.audit.answers import questions_about
from understudy.audit.columns import tells_about
from understudy.audit.findings import Findings
from understudy.audit.privacy_findings import INSIDE
from understudy.audit.verdict import give_verdict
from understudy.charts.chart import Chart, unchecked
from understudy.charts.palette import CONFIG, DARK, LIGHT
from understudy.data.files import check_writable, write_bytes
from understudy.errors import DataError
from understudy.progress import track
from understudy.report import names
from understudy.report.front import LEVELS, SHORT, chosen_first, front_page, to_be_followed
from understudy.report.sections import (
    OPEN_COLUMNS,
    comparison,
    explanations,
    in_units,
    sections,
)
from understudy.report.side_by_side import side_by_side
from understudy.report.trust import trust_table
from understudy.worlds.desiderata import DESIDERATA

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Template
    from jinja2.bccache import Bucket

    from understudy.audit.result import Commands
    from understudy.audit.verdict import Verdict

_SCALE = 2
"""Pixels of a picture for each of the page: sharp in print."""


def render_report(
    findings: Findings,
    *,
    verdict: Verdict | None = None,
    show_records: bool = False,
    commands: Commands | None = None,
) -> str:
    """Return the report as one page of HTML that needs no other file.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    verdict : Verdict, optional
        What is said of it, from `understudy.audit.verdict.give_verdict`.
    show_records : bool
        Whether to show the values of the worst records, if the findings have them; they are left
        out otherwise.
    commands : callable, optional
        Turns advice into what the reader is to type; Python code if it is not given.

    Returns
    -------
    str
        The page.
    """
    command_for: Commands = commands or (lambda advice: advice.code)
    if verdict is not None:
        verdict = to_be_followed(verdict, command_for)
        findings, verdict = chosen_first(findings, verdict)
    findings = in_units(findings)
    with unchecked():
        compared = comparison(findings)
        releases = sections(findings, verdict, show_records=show_records)
        front = front_page(findings, verdict)
    charts = [*(front.charts() if front else ()), *compared]
    charts += (chart for section in releases for chart in section.all_charts())
    library, script, style = drawing_library(), _text("report.js"), _text("report.css")
    style = f"{_variables()}\n{style}"
    page = _template().render(
        findings=findings,
        verdict=verdict,
        front=front,
        unit=findings.units,
        show_records=show_records,
        compared=compared,
        side_by_side=side_by_side(findings),
        sections=releases,
        explanations=explanations(findings),
        chart_data=_embedded(_chart_data(charts)),
        library=_markup(library),
        script=_markup(script),
        style=_markup(style),
        policy=_policy([library, script], style),
        levels=LEVELS,
        questions=questions_about(findings.units),
        tells=tells_about(findings.units),
        short_questions=SHORT,
        open_columns=OPEN_COLUMNS,
        demands=DESIDERATA,
        command_for=command_for,
        trust_table=trust_table(),
        inside=INSIDE,
    )
    return page.lstrip()  # the macros leave blank lines before the beginning


def write_report(
    findings: Findings,
    path: str | Path,
    *,
    verdict: Verdict | None = None,
    show_records: bool = False,
    commands: Commands | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the report to a file, whole or not at all; see `render_report`.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    path : path
        The file; its name ends in .html or .htm.
    verdict : Verdict, optional
        What is said of it.
    show_records : bool
        Whether to show the values of the worst records.
    commands : callable, optional
        Turns advice into what the reader is to type.
    overwrite : bool
        Whether a file that is there already is replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DataError
        If the file cannot be written, is there already, or has another ending.
    """
    path = Path(path)
    if path.suffix.lower() not in {".html", ".htm"}:
        raise DataError(f"{path} should end in .html: the report is a page for a browser.")
    check_writable(path, overwrite=overwrite)
    page = render_report(findings, verdict=verdict, show_records=show_records, commands=commands)
    return write_bytes(page.encode(), path, overwrite=overwrite)


def write_pictures(
    findings: Findings, folder: str | Path, *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write every chart of the report as a PNG picture.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    folder : path
        Where to write them; it is made if it is not there.
    overwrite : bool
        Whether files that are there already are replaced.

    Returns
    -------
    tuple of Path
        The pictures.

    Raises
    ------
    DataError
        If the folder cannot be made, or one of the pictures cannot be written.
    """
    import vl_convert as vlc

    folder = Path(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    findings, _ = chosen_first(findings, give_verdict(findings))
    with unchecked():
        charts = [*comparison(findings)]
        charts += [chart for section in sections(findings, None) for chart in section.all_charts()]
    targets = [(chart, folder / f"{chart.key}.png") for chart in charts]
    for _, path in targets:
        check_writable(path, overwrite=overwrite)
    return tuple(
        write_bytes(
            vlc.vegalite_to_png(chart.for_picture(), scale=_SCALE), path, overwrite=overwrite
        )
        for chart, path in track(targets, "Drawing pictures")
    )


@functools.cache
def drawing_library() -> str:
    """Return the JavaScript of vega, vega-lite and vega-embed, as one text without imports.

    Putting it together takes longer than all charts, so the user's cache keeps it.
    """
    import vl_convert as vlc

    version = metadata.version("vl-convert-python")
    kept = _cache_folder() / f"drawing-{version}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        library = vlc.javascript_bundle()  # type: ignore[call-arg]  # its stub has no defaults
    # A text that ends the script element, or makes a comment of it, would break the page.
    if re.search(r"</script|<!--", library, flags=re.IGNORECASE):
        raise RuntimeError("The drawing library cannot stand in a page.")
    # A report does without the cache where there can be none.
    with contextlib.suppress(OSError, DataError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(library.encode(), kept, overwrite=True)
    return library


def _cache_folder() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("understudy")


def _compiled_templates() -> BytecodeCache | None:
    """Return where Jinja2 keeps templates that it has compiled; None if nothing can be kept."""
    import jinja2

    folder = _cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not folder.is_dir():
        return None

    class Kept(jinja2.FileSystemBytecodeCache):
        def dump_bytecode(self, bucket: Bucket) -> None:
            # As with the drawing library: a report does without where nothing can be written.
            with contextlib.suppress(OSError):
                super().dump_bytecode(bucket)

    return Kept(str(folder), "template-%s.cache")


@functools.cache
def _template() -> Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("understudy.report"),
        bytecode_cache=_compiled_templates(),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "share": wording.share,
        "percent": wording.percent_number,
        "points": wording.signed_points,
        "number": wording.number,
        "bits": wording.bits,
        "factor": wording.factor,
        "short": wording.shortened,
        "model": names.model_name,
        "models": names.models_in_words,
        "prior": names.prior_in_words,
        "mode": names.mode_in_words,
        "times": lambda release: wording.times_in_words(
            release.description_seconds, release.generation_seconds
        ),
    }
    return environment.get_template("report.html")


def _text(name: str) -> str:
    return resources.files("understudy.report").joinpath("templates", name).read_text("utf-8")


def _markup(text: str) -> Any:  # noqa: ANN401  # of Jinja2's own type, loaded where it is used
    """Mark our own script or stylesheet, which is to stand in the page as it is."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  # holds nothing from the data


def _embedded(value: object) -> Any:  # noqa: ANN401  # likewise
    """Return JSON that can stand in a script element: nothing in it can end that, or be markup."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _markup(text)


def _chart_data(charts: Iterable[Chart]) -> dict[str, Any]:
    """Return what the script draws; drawings and tables that charts have alike are there once."""
    drawings, tables = _Once(), _Once()
    found = {
        chart.key: {
            "drawing": drawings.place(chart.for_page()),
            "headings": chart.headings,
            "table": tables.place(chart.rows),
        }
        for chart in charts
    }
    return {
        "config": CONFIG,
        "drawings": drawings.values,
        "tables": tables.values,
        "charts": found,
    }


class _Once:
    """Values without those that are there already."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self._places: dict[str, int] = {}

    def place(self, value: object) -> int:
        """Return where the value is, after it was added if it was not there."""
        place = self._places.setdefault(json.dumps(value), len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


def _variables() -> str:
    """Return the colours as variables of the stylesheet; paper is always light."""
    light, dark = (
        "".join(f"--{role}:{value};" for role, value in colours.items())
        for colours in (LIGHT, DARK)
    )
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}"
    )


def _policy(scripts: Iterable[str], style: str) -> str:
    """Return the content security policy: our own scripts and stylesheet, and nothing else."""
    allowed = " ".join(_digest(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
