"""Files that are broken in a thousand ways: own errors only, nothing written, no record shown.

A small table with values that occur once is written as CSV, Parquet and Excel, with its schema,
settings, a policy and models of four methods. Each case breaks one of these files, by bytes or by
content, and uses it as a command would. It may work, or end in one of our own errors, whose text
must hold none of the single values. Anything else is a failure: another error, a file that was
written, or more time than a minute.
"""

from __future__ import annotations

import io
import json
import signal
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy import BayesNet, Cart, GaussianCopula, Independent, Schema, read, write
from understudy.audit.policy import load_policy
from understudy.errors import UnderstudyError
from understudy.progress import quietly, track
from understudy.synthesis import Synthesizer
from understudy.synthesis.settings import Settings
from understudy.wording import markdown_table

SECONDS = 60
"""Time that a case may take."""

PLANTED = ("Zyxwvut-hermit", "Qwzporphyria", "987654.37", "31177", "1931-07-23")
ROWS = 60

_SETTINGS = """minbucket = 4
cp = 0.001
rules = ["if job == 'nurse' then ill = 'no'"]
[columns.income]
smoothing = "density"
"""
_POLICY = """[gate]
fail_if = ["verdict >= high", "gcap.gain > 0.05"]
missing = "fail"
[audit]
keys = ["age", "job"]
sensitive = "ill"
known = 1
[limits]
large_gain = 0.05
"""
_WORDS = (
    *("nan", "-1", "1e999", "99999999999999999999999", "-0", "0.5", "true", "null", "=1+1", ""),
    *('"', "'", '""', "[", "]", "{", "=", "\n", ",", ";", "\t", "\0", "\ufeff", "é", "[[column]]"),
)


def original() -> pl.DataFrame:
    """Return a table in which the planted values occur once each."""
    rng = np.random.default_rng(1)
    days = np.arange("2020-01-01", "2020-04-01", dtype="datetime64[D]")
    frame = pl.DataFrame(
        {
            "job": rng.choice(["nurse", "clerk"], ROWS),
            "ill": rng.choice(["yes", "no"], ROWS),
            "income": np.round(rng.lognormal(7, 0.5, ROWS), 2),
            "age": rng.integers(20, 60, ROWS),
            "day": rng.choice(days, ROWS),
        }
    )
    job, ill, income, age, day = PLANTED
    row = pl.int_range(pl.len())
    return frame.with_columns(
        pl.when(row == 3).then(pl.lit(job)).otherwise("job").alias("job"),
        pl.when(row == 9).then(pl.lit(ill)).otherwise("ill").alias("ill"),
        pl.when(row == 15).then(float(income)).otherwise("income").alias("income"),
        pl.when(row == 21).then(int(age)).otherwise("age").alias("age"),
        pl.when(row == 27).then(pl.lit(day).str.to_date()).otherwise("day").alias("day"),
    )


def _use_table(path: Path, out: Path) -> None:
    model = Independent(random_state=1).fit(read(path))
    model.sample_to(out / "out.csv")


def _use_schema(path: Path, out: Path) -> None:
    model = Cart(random_state=1).fit(original(), Schema.load(path))
    model.sample_to(out / "out.csv")


def _use_settings(path: Path, out: Path) -> None:
    parameters = Settings.load(path).parameters(Cart, {})
    Cart(**parameters).fit(original()).sample_to(out / "out.csv")


def _use_policy(path: Path, _: Path) -> None:
    load_policy(path)


def _use_model(path: Path, out: Path) -> None:
    Synthesizer.load(path).sample_to(out / "out.csv")


@dataclass(frozen=True)
class Kind:
    """A kind of file: what it is called, its bytes, how it is broken and how it is used."""

    name: str
    file: str
    contents: tuple[bytes, ...]
    breaks: tuple[Callable[[bytes, np.random.Generator], bytes], ...]
    use: Callable[[Path, Path], None]


def kinds(folder: Path) -> tuple[Kind, ...]:
    """Return all kinds of files, made from the same table; models are fitted in the folder."""
    frame = original()
    csv, parquet = frame.write_csv().encode(), io.BytesIO()
    frame.write_parquet(parquet)
    book = write(frame, folder / "table.xlsx").read_bytes()
    models = []
    rules = ["if job == 'nurse' then ill = 'no'"]
    for number, model in enumerate(
        (
            Independent(),
            BayesNet(2),
            Cart(rules=rules),
            GaussianCopula(),
        )
    ):
        model.set_params(random_state=1)
        models.append(model.fit(frame).save(folder / f"{number}.us").read_bytes())
    toml = Schema.infer(frame).to_toml().encode()
    texts = (_by_bytes, _by_words, _by_lines)
    return (
        Kind("CSV", "table.csv", (csv, csv.replace(b",", b";")), texts, _use_table),
        Kind("Parquet", "table.parquet", (parquet.getvalue(),), (_by_bytes,), _use_table),
        Kind("Excel", "table.xlsx", (book,), (_by_bytes, _by_part), _use_table),
        Kind("schema", "schema.toml", (toml,), texts, _use_schema),
        Kind("settings", "settings.toml", (_SETTINGS.encode(),), texts, _use_settings),
        Kind("policy", "policy.toml", (_POLICY.encode(),), texts, _use_policy),
        Kind("model", "model.us", tuple(models), (_by_bytes, _by_header, _by_arrays), _use_model),
    )


def _by_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut out, repeat or insert some bytes, or cut off the end."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(0, max(len(found), 1)))
        some = int(rng.integers(1, 40))
        way = rng.integers(0, 5)
        if way == 0 and found:
            found[at % len(found)] = int(rng.integers(0, 256))
        elif way == 1:
            del found[at : at + some]
        elif way == 2:
            found[at:at] = found[at : at + some]
        elif way == 3:
            found[at:at] = rng.bytes(some)
        elif rng.random() < 0.3:
            del found[at:]
    return bytes(found)


def _by_words(content: bytes, rng: np.random.Generator) -> bytes:
    """Put odd words in the places of others."""
    found = content.decode()
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(0, len(found) + 1))
        word = _WORDS[rng.integers(0, len(_WORDS))]
        found = found[:at] + word + found[at + int(rng.integers(0, 9)) :]
    return found.encode()


def _by_lines(content: bytes, rng: np.random.Generator) -> bytes:
    """Remove, repeat or exchange lines."""
    lines = content.split(b"\n")
    for _ in range(int(rng.integers(1, 4))):
        one, two = rng.integers(0, len(lines), 2).tolist()
        way = rng.integers(0, 3)
        if way == 0 and len(lines) > 1:
            del lines[one]
        elif way == 1:
            lines.insert(two % (len(lines) + 1), lines[one])
        else:
            lines[one], lines[two % len(lines)] = lines[two % len(lines)], lines[one]
        if not lines:
            break
    return b"\n".join(lines)


def _by_header(content: bytes, rng: np.random.Generator) -> bytes:
    """Change what the header of a model says."""
    parts = _unpacked(content)
    header = json.loads(parts["model.json"])
    for _ in range(int(rng.integers(1, 3))):
        _change(header, rng)
    parts["model.json"] = json.dumps(header).encode()
    return _packed(parts)


def _change(value: Any, rng: np.random.Generator) -> None:  # noqa: ANN401  # what JSON holds
    """Change one value somewhere in a JSON document."""
    odd: list[Any] = [None, -1, 2**70, 0.5, "", "odd", [], {}, True, [1], {"a": 1}, 0, 10**6]
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = keys[rng.integers(0, len(keys))]
        if not isinstance(value[key], dict | list) or not value[key] or rng.random() < 0.1:
            if rng.random() < 0.2:
                del value[key]
            else:
                value[key] = odd[rng.integers(0, len(odd))]
            return
        value = value[key]


def _by_part(content: bytes, rng: np.random.Generator) -> bytes:
    """Change some bytes of one file in a workbook, which is an archive of them."""
    parts = _unpacked(content)
    name = list(parts)[rng.integers(0, len(parts))]
    parts[name] = _by_bytes(parts[name], rng)
    return _packed(parts)


def _by_arrays(content: bytes, rng: np.random.Generator) -> bytes:
    """Change values, type or shape of an array of a model, leave one out or add one."""
    parts = _unpacked(content)
    names = [name for name in parts if name.endswith(".npy")]
    name = names[rng.integers(0, len(names))]
    array = np.lib.format.read_array(io.BytesIO(parts[name]))
    way = rng.integers(0, 6)
    if way == 0:
        del parts[name]
        return _packed(parts)
    if way == 1:
        name = "another.npy"
    parts[name] = _array_bytes(_changed(array, rng))
    if way == 2:
        # The array says that it is another one than its bytes are.
        parts[name] = parts[name].replace(b"'shape': (", b"'shape': (9", 1)
    return _packed(parts)


def _changed(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    way = rng.integers(0, 4)
    if way == 0:
        return np.asarray(array, dtype=["f8", "i1", "?", "U3"][rng.integers(0, 4)])
    if way == 1:
        return np.concatenate([array, array])
    if way == 2 or not array.size:
        return array[: len(array) // 2]
    found = array.copy()
    with np.errstate(all="ignore"):
        odd = np.array([0, -1, 1, 2**40, 127], np.int64)[rng.integers(0, 5)]
        found.flat[rng.integers(0, array.size)] = odd.astype(array.dtype)
    return found


def _array_bytes(array: NDArray[Any]) -> bytes:
    held = io.BytesIO()
    np.lib.format.write_array(held, array, allow_pickle=False)
    return held.getvalue()


def _unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(parts: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


@dataclass
class Mutations:
    """What became of the cases, by kind of file; `failures` are those that should not be."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def to_markdown(self) -> str:
        """Return the counts as a table, and the failures."""
        columns = ("worked", "own error", "failed")
        rows = [
            (kind, str(found.total()), *(str(found[name]) for name in columns))
            for kind, found in self.outcomes.items()
        ]
        table = markdown_table(["file", "cases", *columns], rows)
        return "\n".join([table, "", f"Failures: {len(self.failures)}", *self.failures])


def run(cases: int, folder: Path, seed: int = 1) -> Mutations:
    """Break files in so many ways, and use each; `folder` is empty, and is used for them."""
    found = Mutations()
    every = kinds(folder)
    for case in track(range(cases), "Breaking files"):
        kind = every[case % len(every)]
        rng = np.random.default_rng([seed, case])
        content = kind.contents[rng.integers(0, len(kind.contents))]
        broken = kind.breaks[rng.integers(0, len(kind.breaks))](content, rng)
        outcome, why = _outcome(kind, broken, folder)
        found.outcomes.setdefault(kind.name, Counter())[outcome] += 1
        if outcome == "failed":
            found.failures.append(f"{kind.name}, case {case}, seed {seed}: {why}")
    return found


def _outcome(kind: Kind, content: bytes, folder: Path) -> tuple[str, str]:
    path, out = folder / kind.file, folder / "out"
    path.write_bytes(content)
    out.mkdir(exist_ok=True)
    try:
        with _time_out(), quietly():
            kind.use(path, out)
    except UnderstudyError as error:
        shown = [text for text in PLANTED if text in str(error)]
        left = [one.name for one in out.iterdir()]
        if shown or left:
            return "failed", f"shows {shown}, leaves {left}"
        return "own error", ""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # a panic of polars is no Exception
        return "failed", f"{type(error).__name__}: {error}"[:300]
    finally:
        for one in out.iterdir():
            one.unlink()
    return "worked", ""


@contextmanager
def _time_out() -> Iterator[None]:
    """Raise TimeoutError if the block takes too long."""

    def late(_: int, __: FrameType | None) -> NoReturn:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
