"""Advice as commands that can be typed as they stand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli.options import joined_names
from understudy.cli.synthesis import Source, unsaid, words_for

if TYPE_CHECKING:
    from understudy.audit.advice import Advice
    from understudy.cli.holdout import Rerun
    from understudy.cli.options import Csv, Place

_MODEL = ".us"


@dataclass(frozen=True)
class AdviceCommands:
    """Turns advice about releases into commands on the files of this one.

    Parameters
    ----------
    data : Path or Address
        The original.
    csv : Csv
        How files are written.
    sources : mapping of str to Source
        Where the releases are.
    synthesis, audit : sequence of str
        Options that every synthesis, and every audit, is to have again.
    seed : int
        That of an audit.
    rerun : Rerun, optional
        How `understudy run` does again what was done here. If it is given, a new release is made by
        `run`, which keeps records back and audits it in the same way; else by `synth`.
    kept_back : sequence of str
        The option that names the rows kept back, for another audit of the same release. A new one
        must not be made from them.
    """

    data: Place
    csv: Csv
    sources: Mapping[str, Source] = field(default_factory=dict)
    synthesis: Sequence[str] = ()
    audit: Sequence[str] = ()
    seed: int = 0
    rerun: Rerun | None = None
    kept_back: Sequence[str] = ()

    def __call__(self, advice: Advice) -> str | None:
        """Return the command; empty if there is none, None if another one does it already."""
        if advice.action == "audit":
            return self._audit(advice)
        if advice.action == "keep":
            return self._keep(advice)
        if advice.action == "coarsen":
            return self._coarsen(advice)
        if advice.action == "synthesize":
            return self._synthesize(advice)
        if advice.action == "describe":
            return self._describe(advice)
        return self._remove_uniques(advice) if advice.action == "remove uniques" else ""

    def _keep(self, advice: Advice) -> str | None:
        """Return the command that makes a release again, audits it in the same way and keeps it."""
        source = self._source(advice)
        if self.rerun is None or source.file is not None:
            return None
        return self._made_again(source, self._free(f"{_plain(advice.release)}-release"))

    def _describe(self, advice: Advice) -> str:
        output = f"{self._named(advice.output, advice)}.toml"
        bins = str(advice.parameters["bins"])
        return self._typed(
            "schema", [_path(self.data), "-o", output, "--bins", bins, *_drop(self._source(advice))]
        )

    def _synthesize(self, advice: Advice) -> str:
        source = self._source(advice)
        given = {
            name: source.parameters[name] for name in advice.unsaid if name in source.parameters
        }
        parameters = {**advice.parameters, **given}
        more = [*unsaid(parameters), *(name for name in advice.unsaid if name not in given)]
        words = ["--schema", f"{self._named(advice.uses, advice)}.toml"] if advice.uses else []
        if not words and self.rerun is None and source.schema is not None:
            option = "--schema" if parameters.get("epsilon") is None else "--public-schema"
            words = [option, _path(source.schema)]
        if source.settings is not None and source.method == advice.method:
            words, more = [*words, *_settings(source)], []
        also = f"  # and --settings FILE with {', '.join(more)}" if more else ""
        output = self._named(advice.output, advice)
        return self._synthesis(source, output, advice.method, parameters, words) + also

    def _synthesis(
        self,
        source: Source,
        output: str,
        method: str,
        parameters: Mapping[str, object],
        more: Sequence[str] = (),
        holdout: Sequence[str] | None = None,
    ) -> str:
        again = list(self.synthesis)
        unwanted = {"--schema"} & set(more)
        if parameters.get("epsilon") is None:
            # Without noise nothing is paid for, and no schema has to be public.
            again = ["--schema" if word == "--public-schema" else word for word in again]
            unwanted.add("--ledger")
        for option in unwanted & set(again):
            place = again.index(option)
            del again[place : place + 2]
        words = [*words_for(method, parameters), *more, *again, *_drop(source)]
        data = _path(self.data)
        if self.rerun is not None:
            kept_back = self.rerun.words if holdout is None else holdout
            return self._typed("run", [data, "-o", output, *words, *kept_back, *self.audit])
        model = ["--save-model", f"{output}{_MODEL}"]
        return self._typed("synth", [data, "-o", f"{output}{self._suffix}", *words, *model])

    def _audit(self, advice: Advice) -> str | None:
        from understudy.audit.advice import CONTROL, MODEL

        if self.rerun is not None:
            if advice.uses:
                return None
            if self._source(advice).method:
                return self._run_again(advice, control=CONTROL in advice.parameters)
        file, model = self._audited(advice)
        if CONTROL in advice.parameters or (MODEL in advice.parameters and not model):
            return ""  # it is the reader who knows where they are
        words = [_path(self.data), file, *self.audit, *self.kept_back]
        words += ["--model", model] if model else []
        words += ["--seed", str(self.seed)] if self.seed else []
        return self._typed("audit", [*words, "-o", f"{self._named(advice.output, advice)}.html"])

    def _run_again(self, advice: Advice, *, control: bool) -> str:
        """Return the command for a release with the same settings, and perhaps more control."""
        assert self.rerun is not None  # noqa: S101  # the caller looked
        source, holdout = self._source(advice), self.rerun.words
        if control:
            if self.rerun.more is None:
                return ""
            holdout = self.rerun.more
        output = self._named(advice.output, advice)
        return self._made_again(source, output, holdout)

    def _made_again(self, source: Source, output: str, holdout: Sequence[str] | None = None) -> str:
        settings = _settings(source)
        return self._synthesis(source, output, source.method, source.parameters, settings, holdout)

    def _audited(self, advice: Advice) -> tuple[str, str]:
        """Return the table to audit, and its model if that is known."""
        if advice.uses:
            table = self._named(advice.uses, advice)
            return f"{table}{self._suffix}", f"{table}{_MODEL}"
        source = self._source(advice)
        assert source.file is not None  # noqa: S101  # only `compare` keeps none, and it has a rerun
        model = source.model
        if model is None and "model" in advice.parameters:
            model = _model_near(source.file)
        return _path(source.file), "" if model is None else _path(model)

    def _remove_uniques(self, advice: Advice) -> str:
        keys: Any = advice.parameters["keys"]
        return self._control(advice, ["--remove-replicated", "--keys", joined_names(keys)])

    def _coarsen(self, advice: Advice) -> str:
        given: Mapping[str, Any] = advice.parameters
        numbers, texts = (given.get(name, {}) for name in ("top_code", "group_rare"))
        words = [
            word
            for column, share in numbers.items()
            for word in ("--top-code", f"{column}={100 * share:g}%")
        ]
        for column, least in texts.items():
            words += ["--group-rare", f"{column}={least}"]
        return self._control(advice, words)

    def _control(self, advice: Advice, steps: Sequence[str]) -> str:
        before, file = self._file(advice)
        output = f"{self._named(advice.output, advice)}{self._suffix}"
        words = [_path(self.data), file, "-o", output, *steps]
        return _in_turn([*before, self._typed("control", words)])

    def _typed(self, command: str, words: Sequence[str]) -> str:
        return shell(["understudy", command, *words, *self.csv.words()])

    def _file(self, advice: Advice) -> tuple[list[str], str]:
        """Return the table of a release, and the command that makes it if it was not kept."""
        source = self._source(advice)
        if source.file is not None:
            return [], _path(source.file)
        # Several pieces of advice may need it, and none may write what another has written.
        name = self._free(f"{_plain(advice.release)}-before-{advice.output}")
        several = self.rerun is not None and self.rerun.copies > 1
        table = f"{name}/synthetic{'-1' if several else ''}{self._suffix}"
        return [self._made_again(source, name)], table

    def _source(self, advice: Advice) -> Source:
        return self.sources.get(advice.release, Source(Path("synthetic.csv")))

    @property
    def _suffix(self) -> str:
        from understudy.data.files import suffix_like

        return suffix_like(self.data)

    def _named(self, output: str, advice: Advice) -> str:
        """Return what a result is called: it says of which release it is, if there are several."""
        several = len(self.sources) > 1
        return self._free(f"{_plain(advice.release)}-{output}" if several else output)

    def _free(self, stem: str) -> str:
        """Return a name that no file has: a command may have been tried before."""
        endings = ("", self._suffix, _MODEL, ".toml", ".html")
        name, number = stem, 1
        while any(Path(f"{name}{ending}").exists() for ending in endings):
            number += 1
            name = f"{stem}-{number}"
        return name


def _drop(source: Source) -> list[str]:
    return ["--drop", joined_names(source.drop)] if source.drop else []


def _settings(source: Source) -> list[str]:
    return [] if source.settings is None else ["--settings", _path(source.settings)]


def _model_near(file: Place) -> Path | None:
    """Return the model beside a release, if there is one where our commands put it."""
    if not isinstance(file, Path):
        return None
    beside = (file.with_suffix(_MODEL), file.with_name("model.us"))
    found = [*beside, file.parent / "confidential" / "model.us"]
    return next((path for path in found if path.is_file()), None)


def _plain(release: str) -> str:
    """Return the name of a release as part of the name of a file.

    Examples
    --------
    >>> _plain("out/greedy (protected).csv")
    'greedy-protected'
    """
    from understudy.data.kinds import WRITABLE, ending_of, stem_of

    path = Path(release)
    stem = stem_of(path) if ending_of(path) in WRITABLE else release
    return "-".join(re.findall(r"\w+", stem)) or "release"


def _path(path: Place) -> str:
    """Return a path as an argument that does not begin like an option."""
    return f"./{path}" if str(path).startswith("-") and str(path) != "-" else str(path)


def _in_turn(commands: Iterable[str]) -> str:
    return " && ".join(commands)


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
