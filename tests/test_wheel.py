"""Which Python and which platform a wheel says it is for."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "packaging", "src")


@pytest.mark.parametrize("compiled", [True, False])
def test_only_a_wheel_with_compiled_kernels_is_for_one_platform(tmp_path, compiled):
    own = tmp_path / "clone"
    own.mkdir()
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        ignored = {"ignore": shutil.ignore_patterns("compiled", "__pycache__")}
        copy(ROOT / name, own / name, **(ignored if copy is shutil.copytree else {}))
    if compiled:
        folder = own / "src" / "understudy" / "compiled" / "counting"
        folder.mkdir(parents=True)
        (folder / "kernels.nbi").write_bytes(b"a kernel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", "made"]
    subprocess.run(build, cwd=own, check=True, capture_output=True)
    (wheel,) = (own / "made").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (said,) = (name for name in names if name.endswith("/WHEEL"))
        lines = archive.read(said).decode().splitlines()
    tag = "-".join(wheel.stem.split("-")[2:])
    assert f"Tag: {tag}" in lines
    assert any("/compiled/" in name for name in names) == compiled
    if not compiled:
        assert tag == "py3-none-any"
        return
    python, _, platform = tag.split("-")
    assert python == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert platform == sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert "Root-Is-Purelib: false" in lines
