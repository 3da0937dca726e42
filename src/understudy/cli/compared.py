"""What `understudy compare` is given: files and models by name, and methods with parameters."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import values
from understudy.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
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


def read_files(texts: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each release, from FILE and NAME=FILE; files of one name go together.

    Examples
    --------
    >>> {name: len(paths) for name, paths in read_files(["a.csv", "b=1.csv", "b=2.csv"]).items()}
    {'a.csv': 1, 'b': 2}
    """
    found: dict[str, list[Path]] = {}
    for text in texts:
        name, _, file = text.partition("=")
        if not file or not name.strip() or Path(text).is_file():
            name = file = text
        found.setdefault(name.strip(), []).append(Path(file))
    return found


def read_models(texts: Sequence[str], names: Sequence[str]) -> dict[str, Path]:
    """Return the model file of each release that was given one as NAME=MODEL."""
    found: dict[str, Path] = {}
    for text in texts:
        # A name can be that of a file, and hold the sign itself.
        name, _, file = text.rpartition("=")
        name = name.strip()
        if not name or not file:
            raise ParameterError(f"--model is NAME=MODEL, with the name of a table; got {text!r}.")
        if name not in names:
            listed = f"; there is {', '.join(names)}" if names else ""
            raise ParameterError(
                f"--model: there is no table {name!r}{listed}.{did_you_mean(name, names)}"
            )
        if name in found:
            raise ParameterError(f"--model: {name!r} has one model; got two.")
        found[name] = Path(file)
    return found


def read_methods(
    plain: Sequence[str], specs: Sequence[str], protect: list[str] | None, seed: int
) -> dict[str, Synthesizer]:
    """Return the synthesizers by name, and a protected one after each that can protect.

    Parameters
    ----------
    plain : sequence of str
        Methods with their standard parameters.
    specs : sequence of str
        Methods with a name and parameters of their own.
    protect : list of str, optional
        What is protected, as SENSITIVE:TARGET.
    seed : int
        Decides what each of them draws.
    """
    protection = values.read_protection(protect)
    found: dict[str, Synthesizer] = {}
    protecting = False
    for name, model in (_read_method(text, seed) for text in (*plain, *specs)):
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
        raise ParameterError("--protect goes with the methods bayes and cart; there is neither.")
    return found


def _read_method(text: str, seed: int) -> tuple[str, Synthesizer]:
    from understudy.synthesis import METHODS
    from understudy.synthesis.settings import Settings

    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise ParameterError(f"{text!r} is no method. {_FORM}.")
    method = match["method"].strip()
    if method not in METHODS:
        raise ParameterError(
            f"{text!r}: there is no method {method!r}; there are {', '.join(sorted(METHODS))}."
            f"{did_you_mean(method, METHODS)}"
        )
    cls = METHODS[method]
    given = _read_parameters(match["parameters"] or "", text)
    parameters = Settings(given, source=repr(text)).parameters(cls, {})
    name = (match["name"] or text).strip()
    return name, cls(**(parameters | {"random_state": seed}))


def _read_parameters(text: str, spec: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in _parts(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals or not value:
            raise ParameterError(f"{spec!r}: {part.strip()!r} is no PARAMETER=VALUE. {_FORM}.")
        if name in found:
            raise ParameterError(f"{spec!r}: {name} is given twice.")
        found[name] = _typed(value, spec)
    if isinstance(found.get("protect"), str | list):
        given = found["protect"]
        texts = [given] if isinstance(given, str) else [str(one) for one in given]
        found["protect"] = values.read_protection(texts)
    return found


def _typed(text: str, spec: str) -> Any:  # noqa: ANN401  # any type that TOML has
    """Return a value as TOML types it; a plain word is a text."""
    if "\n" not in text and "\r" not in text:
        try:
            content: Mapping[str, Any] = tomllib.loads(f"value = {text}")
        except (tomllib.TOMLDecodeError, RecursionError):
            if _WORD.fullmatch(text):
                return text
        else:
            return content["value"]
    raise ParameterError(
        f"{spec!r}: {text!r} is no value. Write it as in TOML: 4, 0.01, true, word, "
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
