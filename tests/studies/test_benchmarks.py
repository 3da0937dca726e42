"""What the benchmarks of trees and of the copula say about their limits, without timing any."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip(f"there are no benchmarks here: {FOLDER}", allow_module_level=True)

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


@pytest.fixture
def script(monkeypatch):
    """Return a function that imports a benchmark, and leave the environment as it was."""
    for variable in THREADS:
        monkeypatch.setenv(variable, "2")

    def load(name):
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


def test_a_known_miss_is_printed_as_missed_and_leaves_the_exit_code(script, capsys):
    limits = script("cart").Limits()
    assert limits("cmc, both / tree fits", 1.93, 1.5) == "1.93 / 1.5 (missed)"
    assert limits("cmc, CPU seconds", 0.4, 0.4) == "0.40 / 0.4"
    assert limits.conclude() == 0
    printed = capsys.readouterr().out
    assert "Missed: cmc, both / tree fits: 1.93, at most 1.5.\n  Known: " in printed
    assert "It does not change the exit code." in printed
    assert "Limits that hold: 1 of 2 that were checked." in printed
    assert "Within the limits" not in printed


def test_any_other_miss_is_an_exit_code(script, capsys):
    limits = script("cart").Limits()
    limits("cmc, both / tree fits", 1.93, 1.5)
    limits("Adult, both / tree fits", 1.51, 1.5)
    assert limits.conclude() == 1
    assert "Missed: Adult, both / tree fits: 1.51, at most 1.5.\nLimits" in capsys.readouterr().out


def test_known_misses_are_limits_that_are_measured(script, monkeypatch, capsys):
    cart = script("cart")
    slow = cart.Timing(fit=9.0, codes=9.0, trees=1.0, sample=9.0)
    monkeypatch.setattr(cart, "measure", lambda _: slow)
    monkeypatch.setattr(cart, "PEERS", cart.PEERS[:1])
    limits = cart.Limits()
    cart.peers(limits)
    assert cart.KNOWN.keys() < limits.missed.keys()
    assert "18.00 / 1.5 (missed)" in capsys.readouterr().out


def test_the_copula_says_that_adult_was_skipped_and_why(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    run = script("copula").Run()
    assert list(run.tables()) == ["credit card"]
    assert run.skipped == ["adult"]
    printed = " ".join(capsys.readouterr().out.split())
    assert "adult: skipped, and its limit was not checked. There is no file for" in printed
    assert "(no such folder)" in printed
    assert "environment variable UNDERSTUDY_DATA" in printed


def test_the_copula_reads_adult_where_the_user_says(script, real_files):
    real_files("adult_train.csv")
    run = script("copula").Run()
    adult = run.tables()["adult"]()
    assert adult.shape == (32_561, 13)
    # The file has `?` for what is missing: reading it as it is would make that a level.
    assert adult["workclass"].null_count() == 1_836
    assert run.skipped == []


def test_the_copula_has_one_thread_before_numpy_is_imported():
    code = (
        f"import runpy; runpy.run_path({str(FOLDER / 'copula.py')!r}); import numpy, polars\n"
        "from threadpoolctl import threadpool_info\n"
        "numpy.ones((2, 2)) @ numpy.ones((2, 2))\n"
        "print({pool['num_threads'] for pool in threadpool_info()}, polars.thread_pool_size())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=FOLDER.parent
    )
    assert found.stdout == "{1} 1\n"
