"""The documentation stays true: what it shows is run, and the output that it shows is compared."""

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import pytest

from understudy.cli import main
from understudy.counting.compiling import MESSAGE

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [page for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))] if page.exists()]
PICTURES = sorted((DOCS / "images").glob("*.svg"))

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(
    r"<script|<link\b|<iframe|@import|@font-face|<img[^>]*src=[\"']?(?:https?:)?//"
    r"|url\([\"']?(?:https?:)?//|!\[[^\]]*\]\((?:https?:)?//|(?:xlink:)?href=[\"'](?:https?:)?//",
    re.IGNORECASE,
)

# Said by the first command on a machine that needs a kernel: no part of what a page shows.
COMPILING = re.compile(r"\s+".join(map(re.escape, MESSAGE.split())) + r"\s*")


def assert_shown(shown, got):
    """Compare output as doctests do: spaces do not count, and three dots stand for anything."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, got, flags), f"shown:\n{shown}\ngot:\n{got}"


def run_python(code, page, namespace):
    """Return what a block prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), namespace)  # noqa: S102  # our own pages
    return printed.getvalue()


def run_command(arguments, monkeypatch):
    """Return the exit code of a command and all that it says."""
    said = io.StringIO()
    monkeypatch.setattr("sys.argv", ["understudy", *arguments])
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            return end.code, said.getvalue()
    return 0, said.getvalue()


def run_console(block, monkeypatch):
    """Run the commands of a block that are ours, and compare what follows each."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        # A command that a page shows to fail says so: || echo ...
        line, _, otherwise = line.partition(" || ")
        command, *arguments = shlex.split(line)
        if command != "understudy":
            continue
        code, said = run_command(arguments, monkeypatch)
        assert code == (1 if otherwise else 0), f"{line}\n{said}"
        if shown.strip():
            assert_shown(shown, COMPILING.sub("", said))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_happens(page, tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A page may set the first of them; files that a developer has must not change what is shown.
    monkeypatch.setenv("UNDERSTUDY_DATA", "")
    # One cache for all pages, since the library that draws is bundled anew for an empty one.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    namespace = {"__name__": "page"}
    printed = None
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            printed = run_python(block, page, namespace)
            continue
        if language == "console":
            run_console(block, monkeypatch)
        elif language == "text" and printed is not None:
            assert_shown(block, printed)
        printed = None  # output follows its block at once


def test_nothing_is_loaded_from_elsewhere():
    assert PICTURES
    found = {path: OUTSIDE.findall(path.read_text("utf-8")) for path in [*PAGES, *PICTURES]}
    assert {path.name: outside for path, outside in found.items() if outside} == {}


def test_pictures_name_no_address():
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # of the format itself
    for picture in PICTURES:
        addresses = re.findall(r"https?://[^\s\"<]+", picture.read_text("utf-8"))
        assert set(addresses) <= names, picture.name


def test_every_page_of_the_navigation_exists():
    pages = re.findall(
        r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), flags=re.MULTILINE
    )
    assert pages
    assert [page for page in pages if not (ROOT / "docs" / page).is_file()] == []
