"""Another program as the synthesizer: what it is given, and every way in which it can fail."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from understudy.data import read
from understudy.errors import DataError, ParameterError
from understudy.progress import reporting
from understudy.risk.strong.black_box import black_box_attacker
from understudy.risk.strong.command import Command
from understudy.showing import showing_records

TABLE = pl.DataFrame({"x": ["a", "b, c", None], "y": [1, 2, 3]})
FILES = "{original} {synthetic} {seed}"
COPY = "open(synthetic, 'w').write(open(original).read())"


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a program into a folder with a space, and its command line."""

    def write(body, **options):
        script = tmp_path / "my programs" / "synth.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"import sys, time\noriginal, synthetic, seed = sys.argv[1:4]\n{body}\n")
        return Command(f"{shlex.quote(sys.executable)} -S -E '{script}' {FILES}", **options)

    return write


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Let temporary folders be made in one with a space, and see that they are removed."""
    folder = tmp_path / "a temporary folder"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def test_the_program_gets_table_and_seed(program, tmp_path):
    seen = tmp_path / "seen.csv"
    body = f"open({str(seen)!r}, 'w').write(open(original).read())\n"
    found = program(body + "open(synthetic, 'w').write('x,y\\n?,' + seed + '\\n')")(TABLE, 17)
    assert read(seen).equals(TABLE)
    assert found.rows() == [(None, 17)]


def test_a_frame_of_the_same_library_comes_back(program, as_frame):
    table = as_frame({"x": ["a", "b"], "y": [1, 2]})
    found = program(COPY)(table, 1)
    assert type(found) is type(table)


def test_codes_that_look_like_numbers_stay_text(program):
    table = pl.DataFrame({"code": ["1", "2"], "y": [1, 2]})
    assert program(COPY)(table, 1).equals(table)


TEXTS = {
    "zip": ["01", "10", None, "7"],
    "truth": ["true", "false", "true", None],
    "number": ["1.50", "2.5", "1e3", "3"],
    "date": ["2020-01-01", "2021-05-05", "2020-1-1", None],
    "marked": ["NA", "?", None, "a"],
    "quoted": ['q"z', "x,y", "two\nlines", " a "],
}


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_texts_that_look_like_something_else_stay_text(program, kind):
    table = pl.DataFrame(TEXTS | {"y": [1.5, None, 2.0, 3.0]}).cast(dict.fromkeys(TEXTS, kind))
    found = program(COPY)(table, 1)
    assert found.select(list(TEXTS)).rows() == table.select(list(TEXTS)).cast(pl.String).rows()
    assert found["y"].to_list() == table["y"].to_list()
    attack = black_box_attacker(program(COPY), table, table, unknown="marked", runs=1, records=[0])
    assert set(attack.labels["marked"]) == {"?", "NA", "a", "missing"}


def test_marks_that_the_original_does_not_have_are_missing(program):
    table = pl.DataFrame({"x": ["a", "?", ""], "y": [1, 2, 3]})
    found = program("open(synthetic, 'w').write('x,y\\nNA,1\\n?,2\\n,3\\n\\n')")(table, 1)
    # The empty text is a value of x, and x has none missing.
    assert found.rows() == [(None, 1), ("?", 2), ("", 3)]
    table = pl.DataFrame({"x": ["a", None, ""], "y": [1, 2, 3]})
    assert program(COPY)(table, 1)["x"].to_list() == ["a", None, None]


def test_texts_of_a_single_column_and_in_other_dialects(program):
    single = pl.DataFrame({"x": ["1", None, "2"]})
    assert program(COPY)(single, 1).equals(single)
    table = pl.DataFrame({"x": ["1", "ä"], "y": [1.5, 2.5], "z": ["p", "q"]})
    written = "x;  y; z\n1; 1,5; p\n\nä; 2,5; q\n"
    body = f"open(synthetic, 'w', encoding='{{}}').write({written!r})"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert program(body.format(encoding))(table, 1).equals(table)


def test_categories_that_are_numbers_stay_numbers(program):
    table = pd.DataFrame({"x": pd.Categorical([1, 2, 1]), "y": [1, 2, 3]})
    assert program(COPY)(table, 1)["x"].tolist() == [1, 2, 1]


def test_attack_with_a_command_is_that_with_a_function(program):
    # A deterministic program: it drops the last row.
    command = program(
        "lines = open(original).readlines()\nopen(synthetic, 'w').writelines(lines[:-1])"
    )
    table = pl.DataFrame({"x": list("aab"), "y": [1, 1, 2]})
    options = {"original": table, "synthetic": table, "unknown": "x", "runs": 1}
    found = black_box_attacker(command.text, **options, processes=2)
    expected = black_box_attacker(lambda frame, _: frame.head(-1), **options)
    assert found.to_frame().equals(expected.to_frame())


def test_another_command_is_another_attack(program, tmp_path):
    command = program(COPY)
    table = pl.DataFrame({"x": list("aab")})
    options = {"original": table, "synthetic": table, "runs": 1, "resume": tmp_path / "kept"}
    black_box_attacker(command, **options)
    with pytest.raises(DataError, match="another attack"):
        black_box_attacker(command.text + " --more", **options)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "did not write the file"),
        ("sys.exit(3)", r"ended with status 3\.$"),
        ("sys.exit('\\n'.join(map(str, range(9))))", r"status 1\..*:\n  4\n  5\n  6\n  7\n  8$"),
        ("open(synthetic, 'w').write('x,y\\n')", "no rows"),
    ],
)
@showing_records()
def test_programs_that_fail(program, body, message):
    with pytest.raises(DataError, match=message):
        program(body)(TABLE, 1)


def test_a_failure_says_in_which_world(program):
    with pytest.raises(DataError, match=r"run 1 \(seed \d+\) of the world with the original"):
        black_box_attacker(program("sys.exit(3)"), TABLE, TABLE, runs=1)


def test_a_program_that_takes_too_long_is_ended(program):
    with pytest.raises(DataError, match=r"longer than 0\.2 seconds"):
        program("time.sleep(60)", timeout=0.2)(TABLE, 1)


def test_what_a_program_has_started_ends_with_it(program, tmp_path):
    number = tmp_path / "number"
    child = f"import os, time\n{tell_number(number)}\ntime.sleep(60)"
    command = program(f"import subprocess\nsubprocess.run([sys.executable, '-S', '-c', {child!r}])")
    failures = []

    def run():
        with pytest.raises(DataError, match="ended with status") as failure:
            command(TABLE, 1)
        failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    started = wait_for(number)
    command.stop()
    thread.join()
    assert len(failures) == 1
    assert has_ended(started)


def test_an_interruption_ends_the_programs(program, tmp_path):
    class Impatient:
        def track(self, items, *_):
            yield next(iter(items))
            started.append(wait_for(number))
            raise KeyboardInterrupt

    started = []
    number = tmp_path / "number"
    body = f"""
if 'b' in open(original).readlines()[1]:
    import os
    {tell_number(number)}
    time.sleep(60)
{COPY}"""
    table = pl.DataFrame({"x": list("aab")})
    before = threading.active_count()
    with reporting(Impatient()), pytest.raises(KeyboardInterrupt):
        black_box_attacker(program(body), table, table, runs=1, processes=2)
    assert threading.active_count() == before
    assert has_ended(started[0])


@pytest.mark.skipif(os.name != "posix", reason="sends a signal as a terminal does")
@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c_ends_all(program, tmp_path, processes):
    """A blocking wait would go on: polars lets system calls start again after Ctrl-C."""
    number = tmp_path / "number"
    command = program(f"import os\n{tell_number(number)}\ntime.sleep(60)").text
    script = tmp_path / "attack.py"
    script.write_text(
        "import polars as pl\n"
        "from understudy.risk.strong.black_box import black_box_attacker\n"
        "table = pl.DataFrame({'x': list('aab')})\n"
        f"black_box_attacker({command!r}, table, table, runs=1, processes={processes})\n"
    )
    environment = os.environ | {"TMPDIR": tempfile.gettempdir()}
    attack = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, env=environment)
    started = wait_for(number)
    attack.send_signal(signal.SIGINT)
    messages = attack.communicate(timeout=300)[1]  # a limit for a test that fails
    assert messages.rstrip().endswith(b"KeyboardInterrupt")
    assert has_ended(started)


def tell_number(path):
    """Return a line of Python that writes the number of its process, whole or not at all."""
    part = f"{path}.part"
    return f"open({part!r}, 'w').write(str(os.getpid())); os.rename({part!r}, {str(path)!r})"


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)
    return int(path.read_text())


def has_ended(number):
    for _ in range(6000):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        # In a container nobody may ask for the status of a program that has ended.
        status = Path(f"/proc/{number}/stat")
        if status.exists() and ") Z" in status.read_text():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("python3 {original} {synthetic}", r"lacks \{seed\}"),
        ("python3", r"lacks \{original\} and \{synthetic\} and \{seed\}"),
        (f"python3 {FILES} {{sede}}", r"\{sede\} that cannot be filled.*Did you mean 'seed'"),
        (f"python3 {FILES} {{}}", r"\{\} that cannot be filled"),
        (f"python3 {FILES} {{seed:>5}}", "cannot be filled"),
        (f"python3 {FILES} {{", "write braces"),
        (f"python3 '{FILES}", "Close every quote"),
        (f"no_such_program_anywhere {FILES}", "no program 'no_such_program_anywhere'"),
        ("  ", "line of text"),
        (7, "line of text"),
    ],
)
def test_commands_that_cannot_be_used(text, message):
    with pytest.raises(ParameterError, match=message):
        Command(text)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "5", True])
def test_timeouts_that_cannot_be_used(timeout):
    with pytest.raises(ParameterError, match="timeout must be a number of seconds"):
        Command(f"{shlex.quote(sys.executable)} {FILES}", timeout=timeout)


def test_braces_can_be_written(tmp_path):
    script = "import sys; open(sys.argv[2], 'w').write(sys.argv[4])"
    text = f'{shlex.quote(sys.executable)} -S -E -c "{script}" {FILES} "{{{{x}}}}\n1"'
    assert Command(text)(TABLE, 1).columns == ["{x}"]


def test_a_program_that_cannot_be_started(tmp_path):
    script = tmp_path / "program"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(ParameterError, match="cannot be run"):
        Command(f"{shlex.quote(str(script))} {FILES}")(TABLE, 1)
