"""Advice as commands that can be typed as they stand."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli.synthesis import unsaid, words_for

if TYPE_CHECKING:
    from understudy.audit.advice import Advice
    from understudy.cli.options import Csv


@dataclass(frozen=True)
class AdviceCommands:
    """Turns advice about a release into a command on the files of this one.

    `files` has the first file of each release that is one.
    """

    data: Path
    csv: Csv
    files: Mapping[str, Path] = field(default_factory=dict)

    def __call__(self, advice: Advice) -> str:
        """Return the command; empty if none can say it."""
        if advice.action == "synthesize":
            return self._synthesize(advice)
        if advice.action == "audit":
            return self._audit(advice)
        if advice.action == "describe":
            bins = str(advice.parameters["bins"])
            words = ["schema", str(self.data), "-o", f"{advice.output}.toml", "--bins", bins]
            return self._typed(words)
        return self._remove_uniques(advice)

    def _typed(self, words: Sequence[str]) -> str:
        return shell(["understudy", *words, *self.csv.words()])

    def _synthesize(self, advice: Advice) -> str:
        output = ["-o", f"{advice.output}.csv"]
        words = ["synth", str(self.data), *output, *words_for(advice.method, advice.parameters)]
        more = [*unsaid(advice.parameters), *advice.unsaid]
        also = f"  # and --settings FILE with {', '.join(more)}" if more else ""
        return f"{self._typed(words)}{also}"

    def _audit(self, advice: Advice) -> str:
        given: Mapping[str, Any] = advice.parameters
        if any("," in key for key in given["keys"]):
            return ""
        synthetic = f"{advice.output}.csv" if advice.output else self._file(advice)
        words = ["audit", str(self.data), synthetic, "--keys", ",".join(given["keys"])]
        for name in ("sensitive", "target", "known", "model"):
            words += [f"--{name}", str(given[name])] if given.get(name) is not None else []
        return self._typed([*words, "-o", "next-report.html"])

    def _remove_uniques(self, advice: Advice) -> str:
        # JSON's texts and lists are Python's too, and its quotes need no escape in the shell's.
        data, synthetic, keys = (
            json.dumps(one, ensure_ascii=False)
            for one in (str(self.data), self._file(advice), advice.parameters["keys"])
        )
        code = (
            "from understudy import read, write; "
            "from understudy.synthesis.control import remove_replicated_uniques; "
            f"write(remove_replicated_uniques(read({data}), read({synthetic}), keys={keys}).frame, "
            f'"{advice.output}.csv")'
        )
        return shell(["python", "-c", code])

    def _file(self, advice: Advice) -> str:
        return str(self.files.get(advice.release, "synthetic.csv"))


def shell(words: Sequence[str]) -> str:
    """Return words as one command that a shell takes as they are.

    Examples
    --------
    >>> shell(["understudy", "audit", "my data.csv", "--keys", "age,sex"])
    "understudy audit 'my data.csv' --keys age,sex"
    """
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    # An option's text with a colon or comma needs no quotes; shlex agrees but for some of them.
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII) else shlex.quote(word)
