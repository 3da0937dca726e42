"""Compile the kernels that commands need, for most processors of this kind, into the package.

``make wheel`` runs it before it builds the wheel, and removes what it made afterwards. A command on
a small table asks for the same types of arguments as one on a large table, so that small ones do.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

from understudy.counting.compiling import COMMON_PROCESSOR, READY, SOURCES, folder_of
from understudy.data import load, simulate, write

TABLES = {"survey": lambda: load("cmc"), "payments": lambda: simulate("credit_card", 2_000)}

METHODS = (
    "bayes",
    "bayes --structure greedy",
    "bayes --structure genetic",
    "bayes --structure optimal",
    "bayes --smoothing 0",
    "cart",
    "copula",
    "independent",
)
"""What `--method` is given, with the options that ask for other kernels."""

AUDITS = {
    "survey": "--keys age,education,religion --sensitive method",
    "payments": "--keys V1,V2,Amount --sensitive Class",
}


def commands() -> list[str]:
    """Return the commands whose kernels a wheel has."""
    synthesized = [
        f"synth {table}.csv --seed {seed} --save-model {table}.model --force"
        f" -o {table}-synthetic.csv --method {method}"
        for table in TABLES
        for seed, method in reversed(list(enumerate(METHODS)))
    ]
    audited = [
        f"audit {table}.csv {table}-synthetic.csv {AUDITS[table]} --seed 1 --force"
        f" -o {table}.html {more}"
        for table in TABLES
        for more in ("--measures quick", f"--measures standard --model {table}.model")
    ]
    return [*synthesized, *audited]


def main() -> int:
    shutil.rmtree(READY, ignore_errors=True)  # what is there would not be compiled anew
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        environment = os.environ | {
            "NUMBA_CPU_NAME": COMMON_PROCESSOR,
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_CACHE_DIR": str(work / "compiled"),
        }
        for table, make in TABLES.items():
            write(make(), work / f"{table}.csv")
        for command in commands():
            print(f"understudy {command}", flush=True)
            subprocess.run(  # noqa: S603  # our own command
                [sys.executable, "-m", "understudy", "--quiet", *shlex.split(command)],
                cwd=work,
                env=environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        for source in {path.with_name("kernels.py") for path in SOURCES.rglob("*kernels.py")}:
            made = work / "compiled" / UserProvidedCacheLocator.get_suitable_cache_subpath(source)
            if made.is_dir():
                shutil.copytree(made, READY / folder_of(source))
    files = [path for path in READY.rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"{READY.name}: {len(files)} files, {megabytes:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
