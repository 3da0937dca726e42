"""What the benchmarks say about their limits, and that they measure what they say, untimed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import platformdirs
import polars as pl
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip(f"there are no benchmarks here: {FOLDER}", allow_module_level=True)

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


@pytest.fixture
def script(monkeypatch):
    """Return a function that imports a benchmark, and leave the environment as it was."""
    monkeypatch.syspath_prepend(FOLDER)
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
        f"import runpy, sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        f"runpy.run_path({str(FOLDER / 'copula.py')!r}); import numpy, polars\n"
        "from threadpoolctl import threadpool_info\n"
        "numpy.ones((2, 2)) @ numpy.ones((2, 2))\n"
        "print({pool['num_threads'] for pool in threadpool_info()}, polars.thread_pool_size())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=FOLDER.parent
    )
    assert found.stdout == "{1} 1\n"


@pytest.mark.slow
def test_the_audit_is_set_beside_reading(script, capsys):
    assert script("audit").report(500) == 0
    printed = capsys.readouterr().out
    assert "Quick audit of 500 records x 31 columns" in printed
    assert "reading and audit, keys in groups" in printed
    assert "Limits are for the full table." in printed


@pytest.fixture
def strong(script, monkeypatch):
    """Return the benchmark of the strong attacker, in which every work takes 0.05 s."""
    module = script("strong")
    monkeypatch.setattr(module, "best", lambda work: (0.05, work()))
    return module


def test_a_figure_of_the_strong_attacker_must_be_below_its_limit(strong, capsys):
    limits = strong.Limits()
    assert limits("Adult, root age, attack / fit", 1.0, 1) == "1.00 / 1 (missed)"
    assert limits("simulated data, fixed, seconds", 0.008, 0.1, digits=3) == "0.008 / 0.1"
    assert limits.conclude() == 1
    printed = capsys.readouterr().out
    assert "Missed: Adult, root age, attack / fit: 1.00, not below 1." in printed
    assert "Limits that hold: 1 of 2 that were checked." in printed


@pytest.mark.slow
def test_the_strong_attacker_says_which_tables_were_skipped(strong, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    monkeypatch.setattr(sys, "argv", ["strong.py"])
    for part in ("simulated", "new_fits", "smoothed", "literature", "black_box"):
        monkeypatch.setattr(strong, part, lambda *_: None)
    few = strong.scale_items(200, (5,) * 10)
    monkeypatch.setattr(strong, "scale_items", lambda *_: few)
    assert strong.main() == 0
    printed = capsys.readouterr().out
    assert "Adult: skipped, the table is not here (set UNDERSTUDY_DATA)." in printed
    assert "SD2011: skipped, the table is not here (set UNDERSTUDY_DATA)." in printed
    assert "Adult, whole record: skipped" in printed
    # 50 ms for 100 records; the same table stands for all sizes here.
    assert "| 10 attributes x 5 levels, k = 3, root q1 | 9.8e+06 |" in printed
    assert " | 100 | 0.5 | " in printed
    assert "Limits that hold: 0 of 0 that were checked." in printed


def test_the_strong_attacker_compares_16_worlds_of_1000_records(strong, monkeypatch, capsys):
    monkeypatch.setattr(strong, "MODES", {"fixed": 0.1})
    limits = strong.Limits()
    strong.simulated(limits)
    # 0.05 s for 1,000 records is 50 microseconds for each; the fit takes 0.05 s as well.
    row = "| fixed | 1,000 | 16 | 0.050 / 0.1 | 50 | 1.0 | 1.000000000000 |"
    assert row in capsys.readouterr().out
    assert (limits.held, limits.missed) == (1, {})


def test_smoothed_networks_stand_beside_those_as_they_are(strong, monkeypatch, capsys):
    survey = strong.load("cmc").select("age", "education", "method").tail(100)
    monkeypatch.setattr(strong, "load", lambda _: survey)

    def nothing(_):
        raise strong.DataError("no such table")

    monkeypatch.setattr(strong, "fetch", nothing)
    limits = strong.Limits()
    strong.smoothed(limits)
    printed = capsys.readouterr().out
    assert "| cmc, k = 3, whole record of 50 | 50.0 | 50.0 | 1.00 / 4 |" in printed
    assert "Adult, smoothed: skipped" in printed
    assert (limits.held, limits.missed) == (15, {})


def test_the_strong_attacker_is_set_beside_what_others_took(strong, monkeypatch, capsys):
    monkeypatch.setattr(strong, "PAPER", {4: strong.PAPER[4]})
    strong.literature()
    printed = capsys.readouterr().out
    # 300 s over 0.05 s for one record, and over 0.05 s for all 1,000.
    ratios = "| 5 minutes | 6,000 | 6,000 | 6,000,000 |"
    assert f"| 4 binary, network, k = 2 | 16 | 50.0 | 50.0 | 0.0500 {ratios}" in printed
    assert "was not measured here: it is for one record" in printed


@pytest.mark.slow
def test_the_black_box_stands_beside_the_exact_posterior(strong, capsys):
    strong.black_box(runs=[2])
    found = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("| yes", "| no"))
    ]
    # The first release holds the record, the second does not: see the study of the paper.
    assert [(row[0], row[1], row[2]) for row in found] == [("yes", "16", "2"), ("no", "16", "2")]
    assert found[0][-1] == "1.0000"
    assert 0.02 < float(found[1][-1]) < 0.03
    assert all("±" in row[-2] and "nan" not in row[-2] for row in found)


@pytest.mark.parametrize("size", [3_000, 10_000])
def test_growth_is_measured_with_the_same_tables_at_every_size(strong, size):
    # The unknown question is drawn from the two before it, and the two after it from it.
    assert strong.point("Network, k = 2, 3 to 7 levels", size).tables == 3


def test_singling_out_is_compared_with_tables_without_repeated_records(script):
    module = script("singling_out")
    table = pl.DataFrame({"x": [1, 1, 2, 3, 4], "job": ["a", "a", None, "b", "c"]})
    people, control = module.halves(table, 10)
    assert len(people) == len(control) == 2
    assert pl.concat([people, control]).n_unique() == 4
    kinds = [attack["kind"] for attack in module.attacks_on(table, 5, (1, 3))]
    assert kinds == ["singling out"] * 2 + ["linkability"] * 2


def test_rates_are_compared_in_joint_standard_errors(script):
    apart = script("singling_out").apart
    # Both have a standard error of 0.05.
    assert apart(0.5, 0.6, 1.96 * 0.05, 100) == pytest.approx(0.1 / (0.05 * 2**0.5))


def test_private_releases_are_scored_by_their_tables(script):
    pytest.importorskip("opendp")
    private, tables = script("private"), script("public_bins")
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 0, 0, 0]})
    other = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 0, 0, 0]})
    # Single columns agree; of three pairs, one moves half of its records; so does the triple.
    assert tables.distances(frame, other, (2, 2, 1)) == [0, pytest.approx(0.5 / 3), 0.5]
    table = tables.coded("cmc")
    assert table.schema.targets == ("method",)
    assert all(
        table.frame[name].max() < size
        for name, size in zip(table.frame.columns, table.sizes, strict=True)
    )
    report = private.Report("cmc")
    report.add(("adult", "AIM", 1.0), [{"tvd3": 0.07, "regression": 0.86, "cpu": 1, "mb": 400}])
    assert report.missed == ["adult, AIM, epsilon 1: tvd3 0.07, goal 0.065"]


def test_private_releases_are_compared_with_peers_that_finished(script):
    pytest.importorskip("opendp")
    private = script("private")
    report = private.Report("cmc")
    report.add(("cmc", "AIM add-remove", 1.0), [{"tvd3": 0.15, "cpu": 1}, {"tvd3": 0.17, "cpu": 3}])
    report.add(("cmc", "OpenDP's AIM", 1.0), [{"tvd3": 0.15, "cpu": 30}])
    report.add(("cmc", "dpmm's AIM", 1.0), [{"stopped": 900}])
    report.check_peers("cmc", 1.0)
    assert report.missed == [
        "cmc, AIM add-remove, epsilon 1: tvd3 0.16, goal 0.15",
        "cmc, AIM add-remove, epsilon 1: cpu 2, goal 1.5",
    ]
    assert [list(column.cells)[2] for column in report.table.columns][-3:] == [
        " > 900",
        "",
        "0 of 1",
    ]


def test_private_runs_go_on_where_they_stopped(script, tmp_path, monkeypatch):
    pytest.importorskip("opendp")
    private = script("private")
    made = []

    def in_process(name, method, epsilon, *seeds):
        made.append((name, method, epsilon, *seeds))
        return ({"tvd3": seed} for seed in seeds)

    monkeypatch.setattr(private, "in_process", in_process)
    given = SimpleNamespace(keep=tmp_path / "runs", peer_cpu=1)
    asked = [("cmc", "AIM", 1.0, seed) for seed in range(3)]
    assert private.runs(given, asked[:2]) == [{"tvd3": 0}, {"tvd3": 1}]
    assert private.runs(given, asked)[2] == {"tvd3": 2}
    assert made == [("cmc", "AIM", 1.0, 0, 1), ("cmc", "AIM", 1.0, 2)]


SCRIPT = """
from rows import note
note("all pairs", "CPU s", 0.25, 0.5, "9 s (another tool)")
note("greedy | k = 3", "CPU s", 1234.5, 15)
raise SystemExit(1)
"""


def test_what_scripts_measured_is_one_table_in_the_page(script, tmp_path, monkeypatch, capsys):
    bench = script("bench")
    (tmp_path / "slow.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "broken.py").write_text("raise SystemExit('no table')", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{bench.MARKS[0]}old\n{bench.MARKS[1]}after\n", encoding="utf-8")
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr(bench, "SCRIPTS", {"old": (), "slow": (), "broken": ()})
    monkeypatch.setattr(bench, "KEPT", tmp_path / "measured.json")
    monkeypatch.setattr(bench, "PAGE", page)
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))
    bench.keep({"old": ("2026-01-31", [bench.Row("reading", "CPU s", 1.5)])})
    monkeypatch.setattr(sys, "argv", ["bench.py", "slow", "broken"])
    assert bench.main() == 1
    printed = capsys.readouterr().out
    assert printed.endswith("Failed, or missed a limit: slow.py, broken.py.\n")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| reading | CPU s | 1.5 |  |  | 2026-01-31 |" in text
    assert "| all pairs | CPU s | 0.25 | 0.5 | 9 s (another tool) | 20" in text
    assert "| CPU s | 1,234 (missed) | 15 |  | 20" in text
    assert "Not in this table: `broken.py`." in text
    assert bench.table(bench.kept()) in printed
    # What measures nothing, and does not fail, keeps what was measured before.
    monkeypatch.setattr(bench, "run", lambda _: (0, []))
    monkeypatch.setattr(sys, "argv", ["bench.py", "old"])
    assert bench.main() == 0
    assert "| reading | CPU s | 1.5 |  |  | 2026-01-31 |" in page.read_text(encoding="utf-8")


def test_the_page_shows_what_was_measured(script):
    bench = script("bench")
    page = bench.PAGE.read_text(encoding="utf-8")
    assert bench.in_page(page, bench.table(bench.kept())) == page
    assert all((FOLDER / f"{name}.py").exists() for name in bench.SCRIPTS)


def test_a_benchmark_that_runs_by_itself_keeps_no_rows(script, tmp_path, monkeypatch):
    rows = script("rows")
    monkeypatch.delenv(rows.VARIABLE, raising=False)
    rows.note("all pairs", "CPU s", 1)
    assert rows.noted(tmp_path / "rows") == []
    monkeypatch.setenv(rows.VARIABLE, str(tmp_path / "rows"))
    rows.note("all pairs", "CPU s", 1)
    assert rows.noted(tmp_path / "rows") == [rows.Row("all pairs", "CPU s", 1)]


@pytest.mark.slow
def test_streams_are_set_beside_decoding_and_encoding(script, capsys):
    # So small a table takes longer to begin with than to go through: its limit is missed.
    assert script("stream").report([1_000]) == 1
    printed = capsys.readouterr().out
    assert "| 1,000 | default |" in printed
    assert "Missed: plain, 1,000: " in printed
    assert "GB, more than" not in printed


def test_wide_tables_are_what_they_say(script):
    wide = script("wide")
    frame = wide.sums(np.random.default_rng(1))
    codes = np.searchsorted([*"abcde"], frame.to_numpy().astype(str))
    told = (codes[:, 0::3] + codes[:, 1::3]) % 5 == codes[:, 2::3]
    assert 0.82 < told.mean() < 0.86  # four in five, and one in five of the others by chance
    for make in (wide.items, wide.blocks, wide.chain):
        shares = make(np.random.default_rng(1))["q7"].value_counts()["count"]
        assert shares.to_list() == [800] * 5
    before = wide.predictive.WIDE
    with wide.widest(7):
        assert wide.predictive.WIDE == 7
    assert before == wide.predictive.WIDE


def test_methods_on_wide_tables_have_a_minute(script, monkeypatch, capsys):
    widths = script("widths")
    assert {len(widths.methods(300)), len(widths.methods(1000))} == {9, 3}
    monkeypatch.setattr(widths, "methods", lambda _: {"columns alone": widths.Independent()})
    taken = iter([59.0, 61.0])
    monkeypatch.setattr(widths, "seconds", lambda *_: next(taken))
    assert widths.report([4, 5], rows=50) == 1
    printed = capsys.readouterr().out
    assert "| 4 | columns alone | 59.0 |" in printed
    assert printed.endswith("Missed: columns alone, 5 columns: 61.0 s, more than 60.\n")


def test_growth_knows_its_plots(script, monkeypatch, capsys):
    growth = script("growth")
    assert growth.codes(50, 3, 2).cardinalities == (2, 2, 2)
    monkeypatch.setattr(sys, "argv", ["growth.py", "height"])
    with pytest.raises(SystemExit):
        growth.main()
    assert "no such plot: height; choose from rows, columns, parents, levels" in (
        capsys.readouterr().err
    )
