"""What CONTRIBUTING names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
if not PAGE.exists():
    pytest.skip(f"there is no {PAGE}", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", TEXT)
FOLDERS = r"(src|tests|docs|studies|benchmarks)/\S*"
PATHS = sorted({one for one in CODE if re.fullmatch(FOLDERS, one)})


def test_every_path_exists():
    paths = [path for path in PATHS if "NAME" not in path and "*" not in path]
    assert len(paths) > 50
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_package_has_its_line():
    packages = {path.parent.name for path in (ROOT / "src" / "understudy").glob("*/__init__.py")}
    assert packages <= set(CODE)


def test_every_target_has_its_line():
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {f"make {target}" for target in targets} - set(CODE) <= {"make help"}
