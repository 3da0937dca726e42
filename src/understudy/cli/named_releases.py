"""What `understudy compare` is given: files and models by name, and methods with parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from understudy.cli import options
from understudy.cli.option_groups import Reworded, argument, panel, repeated, spelled
from understudy.cli.preparation import Preparation, Prepared
from understudy.cli.privacy_options import (
    NO_GROUPS_WITH_NOISE,
    PrivacyFiles,
    PrivacyOptions,
    is_private,
    no_epsilon,
)
from understudy.cli.synthesis import (
    Protect,
    Source,
    lacking,
    read_protection,
    set_up,
)
from understudy.errors import DataError, ParameterError, did_you_mean
from understudy.toml_file import parse_toml

if TYPE_CHECKING:
    from understudy.data import Schema
    from understudy.synthesis import Synthesizer

PROTECTED = "{} (protected)"
"""What the second, protected release of a method is called."""

_SPEC = re.compile(r"(?:(?P<name>[^=:]+)=)?(?P<method>[^=:]+)(?::(?P<parameters>.*))?", re.DOTALL)
_FORM = (
    'A method is NAME=METHOD:PARAMETER=VALUE,..., such as "strict=cart:minbucket=50" or '
    '"bayes:parents=4,structure=genetic,protect=SENSITIVE:TARGET"'
)
_WORD = re.compile(r"[^\s\"'\[\]{},=]+")
_BRACKETS = {"[": "]", "{": "}"}
_COMPARED = "What is compared"
_compared = panel(_COMPARED)


@dataclass(frozen=True, kw_only=True)
class NamedReleases:
    """What `compare` compares: files, with their models, and methods that are tried here."""

    synthetic: Annotated[
        list[str] | None,
        argument(
            "Synthetic tables: FILE or NAME=FILE. Files with the same NAME are syntheses by "
            "one method.",
            metavar="NAME=FILE",
        ),
    ] = None
    methods: Annotated[
        str,
        _compared(
            "Methods to synthesize with, separated by commas: independent,copula,cart,bayes."
        ),
    ] = ""
    method: Annotated[
        list[str] | None,
        _compared(
            'NAME=METHOD:PARAMETER=VALUE,...: a method with parameters, as in "strict=cart:'
            'minbucket=50" or "bayes:parents=4,structure=genetic". NAME= can be left out. '
            "Repeatable."
        ),
    ] = None
    protect: Annotated[
        Protect,
        Reworded(
            help="SENSITIVE:TARGET: make each bayes and cart of --methods and --method a second "
            "time, where the sensitive column keeps only its link to the target. Repeatable.",
            panel=_COMPARED,
        ),
    ] = None
    copies: Annotated[
        options.Copies,
        Reworded(help="Syntheses by each method. Figures are their means.", panel=_COMPARED),
    ] = 1
    schema: Annotated[
        options.SchemaFile,
        Reworded(
            help="What the columns are, for --methods and --method; from `understudy schema`.",
            panel=_COMPARED,
        ),
    ] = None
    privacy: PrivacyOptions
    files: PrivacyFiles
    preparation: Annotated[Preparation, Reworded(panel=_COMPARED)]
    model: Annotated[
        list[str] | None,
        _compared(
            "NAME=MODEL: the model that made the file of that name. Repeatable. Those of "
            "--methods and --method are known."
        ),
    ] = None

    @cached_property
    def _files(self) -> dict[str, list[options.Place]]:
        return read_files(self.synthetic or [])

    @cached_property
    def _models(self) -> dict[str, Path]:
        return read_models(self.model or [], list(self._files))

    @property
    def inputs(self) -> list[options.Place | None]:
        """The files that these options name."""
        tables = [path for paths in self._files.values() for path in paths]
        return [
            *tables,
            *self._models.values(),
            self.schema,
            self.files.public_schema,
            self.files.ledger,
        ]

    def read(
        self, seed: int
    ) -> tuple[dict[str, list[options.Place]], dict[str, Synthesizer], dict[str, Synthesizer]]:
        """Return the files, the methods to try, and the models of the files, each by name."""
        from understudy.synthesis import Synthesizer

        files = self._files
        specs = [*options.split_names(self.methods), *(self.method or [])]
        made = with_privacy(read_methods(specs, self.protect or [], seed), self.privacy)
        both = [name for name in made if name in files]
        if both:
            raise ParameterError(
                f"{both[0]!r} is both a file and a method; give one of them another NAME=."
            )
        if not files and not made:
            raise ParameterError("Give synthetic tables, --methods or --method to compare.")
        if self.schema is not None and not made:
            raise ParameterError("--schema needs --methods or --method.")
        self.preparation.check()
        if self.preparation.group_rare is not None and self.privacy.epsilon is not None:
            raise ParameterError(NO_GROUPS_WITH_NOISE)
        if self.preparation.words() and not made:
            raise ParameterError(f"{self.preparation.words()[0]} needs --methods or --method.")
        models = {name: Synthesizer.load(path) for name, path in self._models.items()}
        return files, made, models

    def sources(
        self,
        original: Any,  # noqa: ANN401  # a frame
        tables: Mapping[str, list[Any]],
        made: Mapping[str, Synthesizer],
    ) -> dict[str, Source]:
        """Return where each release is, or how it was made here."""
        from understudy.audit.made_by import made_by

        found = {}
        for name, paths in self._files.items():
            drop = lacking(original, tables[name])
            found[name] = Source(paths[0], model=self._models.get(name), drop=drop)
        for name, model in made.items():
            how, given = made_by(model), model.get_params()
            changed = () if how is None else (*how.parameters, *how.unsaid)
            found[name] = Source(None, model.method, {one: given[one] for one in changed})
        return found

    def words(self, seed: int) -> list[str]:
        """Return the options with which a synthesis is one of those that are tried here."""
        again = repeated({"schema": self.schema, "seed": seed})
        return [*again, *self.files.words(), *self.preparation.words()]

    def prepare(
        self,
        original: Any,  # noqa: ANN401  # a frame
        made: Mapping[str, Synthesizer],
        units: Sequence[str] = (),
    ) -> Prepared:
        """Return the original as the methods are to synthesize it."""
        if not made:
            return Prepared(original, None)
        described = self.described()
        private = [is_private(model) for model in made.values()]
        ready = self.preparation.apply(original, described, units, private=all(private))
        if described is not None or all(private) or not any(private):
            return ready
        # What is read from the records for the other methods must not reach the private ones.
        own = self.preparation.apply(original, None, units, private=True)
        return replace(ready, private_schema=own.schema)

    def described(self) -> Schema | None:
        """Return what the columns are, if that is given."""
        return self.files.schema(self.schema)

    def synthesize(self, ready: Prepared, made: Mapping[str, Synthesizer]) -> dict[str, list[Any]]:
        """Fit each method, and draw its tables."""
        from understudy.progress import track

        found = {}
        for name, model in track(list(made.items()), "Synthesizing"):
            try:
                model.fit(ready.frame, ready.schema_for(model))
            except (DataError, ParameterError) as error:
                raise type(error)(f"{name}: {error}") from error
            found[name] = [model.sample()] if self.copies == 1 else model.sample(copies=self.copies)
        return found


def read_files(texts: Sequence[str]) -> dict[str, list[options.Place]]:
    """Return the files of each release, from FILE and NAME=FILE; files of one name go together.

    Examples
    --------
    >>> {name: len(paths) for name, paths in read_files(["a.csv", "b=1.csv", "b=2.csv"]).items()}
    {'a.csv': 1, 'b': 2}
    """
    from understudy.data.kinds.database import is_address

    found: dict[str, list[options.Place]] = {}
    for text in texts:
        name, _, file = text.partition("=")
        if not file or not name.strip() or is_address(text) or Path(text).exists():
            name = file = text
        place = options.read_place(file)
        # The address of a table may have a password, which is no part of a name.
        found.setdefault(str(place) if name == file else name.strip(), []).append(place)
    return found


def read_models(texts: Sequence[str], names: Sequence[str]) -> dict[str, Path]:
    """Return the model file of each release that was given one as NAME=MODEL."""
    found: dict[str, Path] = {}
    for text in texts:
        # A name can be that of a file, and hold the sign itself.
        name, _, file = text.rpartition("=")
        name = name.strip()
        if not name or not file:
            raise ParameterError(
                f"--model must be NAME=MODEL, with the name of a table; got {text!r}."
            )
        if name not in names:
            listed = f"; there is {', '.join(names)}" if names else ""
            raise ParameterError(
                f"--model: there is no table {name!r}{listed}.{did_you_mean(name, names)}"
            )
        if name in found:
            raise ParameterError(f"--model: {name!r} has one model; got two.")
        found[name] = Path(file)
    return found


def read_methods(specs: Sequence[str], protect: Sequence[str], seed: int) -> dict[str, Synthesizer]:
    """Return the synthesizers by name, and a protected one after each that can protect.

    A method may have a name and parameters of its own. What is protected is given as
    SENSITIVE:TARGET.
    """
    protection = read_protection(protect)
    found: dict[str, Synthesizer] = {}
    protecting = False
    for name, model in (_read_method(text, seed) for text in specs):
        made = {name: model}
        if protection and "protect" in model.parameter_names():
            protecting = True
            if not model.get_params()["protect"]:
                other = type(model)(**(model.get_params() | {"protect": protection}))
                made[PROTECTED.format(name)] = other
        for called in made:
            if called in found:
                raise ParameterError(f"Two methods are called {called!r}; give one another NAME=.")
        found |= made
    if protection and not protecting:
        raise ParameterError("--protect needs the method bayes or cart; neither is given.")
    return found


def with_privacy(
    made: Mapping[str, Synthesizer], privacy: PrivacyOptions
) -> dict[str, Synthesizer]:
    """Return the synthesizers, with epsilon for those that can have it and have none of their own.

    The others stay as they are, to compare with.
    """
    given = privacy.given()
    if not given:
        return dict(made)
    if "epsilon" not in given:
        raise ParameterError(f"{spelled(next(iter(given)))} has no effect without --epsilon.")
    able = [name for name, model in made.items() if "epsilon" in model.parameter_names()]
    if not able:
        reasons = [no_epsilon(type(model)) for model in made.values()]
        raise ParameterError(reasons[0] if reasons else "--epsilon needs --methods or --method.")
    return {
        name: type(model)(**(model.get_params() | given))
        if name in able and model.get_params()["epsilon"] is None
        else model
        for name, model in made.items()
    }


def _read_method(text: str, seed: int) -> tuple[str, Synthesizer]:
    from understudy.synthesis import METHODS
    from understudy.synthesis.settings import Settings

    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise ParameterError(f"{text!r} is not a method. {_FORM}.")
    method = match["method"].strip()
    if method not in METHODS:
        raise ParameterError(
            f"{text!r}: there is no method {method!r}; there are {', '.join(sorted(METHODS))}."
            f"{did_you_mean(method, METHODS)}"
        )
    cls = METHODS[method]
    given = _read_parameters(match["parameters"] or "", text)
    name = (match["name"] or text).strip()
    return name, set_up(cls, Settings(given, source=repr(text)), {}, seed)


def _read_parameters(text: str, spec: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in _parts(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals or not value:
            raise ParameterError(f"{spec!r}: {part.strip()!r} is not PARAMETER=VALUE. {_FORM}.")
        if name in found:
            raise ParameterError(f"{spec!r}: {name} is given twice.")
        found[name] = _typed(value, spec)
    if isinstance(found.get("protect"), str | list):
        given = found["protect"]
        texts = [given] if isinstance(given, str) else [str(one) for one in given]
        found["protect"] = read_protection(texts)
    return found


def _typed(text: str, spec: str) -> Any:  # noqa: ANN401  # any type that TOML has
    """Return a value as TOML types it; a plain word is a text."""
    if "\n" not in text and "\r" not in text:
        try:
            return parse_toml(f"value = {text}", spec)["value"]
        except ParameterError:
            if _WORD.fullmatch(text):
                return text
    raise ParameterError(
        f"{spec!r}: {text!r} is not a value. Write it as in TOML: 4, 0.01, true, word, "
        '"several words", ["age", "sex"].'
    )


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between commas, but for those inside quotes and brackets.

    Examples
    --------
    >>> list(_parts('cp=1,keep=["a", "b,c"], proper=true'))
    ['cp=1', 'keep=["a", "b,c"]', ' proper=true']
    """
    if not text.strip():
        return
    start, quote, closing = 0, "", list[str]()
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _BRACKETS:
            closing.append(_BRACKETS[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
        elif sign == "," and not closing:
            yield text[start:place]
            start = place + 1
    yield text[start:]
