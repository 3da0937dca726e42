"""The findings of an audit as JSON, and back: the same values, in a documented form.

The document is described by ``audit.schema.json`` beside this module. Undefined numbers (nan) are
null, and the infinite ones are the texts "infinity" and "-infinity". Beside the findings stands the
verdict, which follows from them: it is for programs of others, and is not read back. The number of
the format rises when a program that reads it would have to change; version 1 had no verdict, and
is still read. The schema is made from the classes of the findings and of the verdict, and a test
compares it with the file. After a change to these, write it anew::

    python -c "from understudy.audit.json_form import write_schema; write_schema()"
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from understudy.audit.findings import NAN, Findings
from understudy.audit.verdict import Verdict, give_verdict
from understudy.errors import DataError
from understudy.wording import listed

FORMAT = "understudy audit"
VERSION = 2
READ = (1, VERSION)
"""The versions that can be read."""

INFINITE = {"infinity": math.inf, "-infinity": -math.inf}


def to_document(findings: Findings) -> dict[str, Any]:
    """Return the findings and their verdict as values that JSON holds, with what they are.

    Examples
    --------
    >>> empty = Findings("1.0", "", 0.5, 1, "", "quick", 9, 2, ("age",), None, "ill", "", ())
    >>> document = to_document(empty)
    >>> document["format"], document["findings"]["keys"], document["verdict"]["level"]
    ('understudy audit', ['age'], 'not measured')
    """
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "verdict": _plain(give_verdict(findings)),
        "findings": _plain(findings),
    }


def to_text(findings: Findings) -> str:
    """Return the findings as the text of a JSON document."""
    return json.dumps(to_document(findings), ensure_ascii=False, allow_nan=False, indent=1)


def from_text(text: str) -> Findings:
    """Read findings from the text of a JSON document.

    Raises
    ------
    DataError
        If the text is no JSON, not of an audit, of another version, or damaged.
    """
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"This is not a JSON document: {error}.") from error
    kind = document.get("format") if isinstance(document, dict) else None
    if kind != FORMAT:
        given = f" It says that it is {kind!r}." if isinstance(kind, str) else ""
        raise DataError(f"This JSON document does not hold an audit.{given}")
    version = document.get("format_version")
    if version not in READ or isinstance(version, bool):
        raise DataError(
            f"This audit has format version {version!r}, and this version of understudy reads "
            f"{listed([str(one) for one in READ])}. Use the version that wrote it, or run the "
            "audit again."
        )
    found = _read(Findings, document.get("findings"), "findings")
    assert isinstance(found, Findings)  # noqa: S101  # for the type checker
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever findings hold
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return None if math.isnan(value) else next(k for k, v in INFINITE.items() if v == value)
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


@cache
def field_types(kind: type) -> dict[str, Any]:
    """Return the type of each field of one of the classes of findings and verdicts."""
    return get_type_hints(kind)


def _read(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401, C901  # any type of a field
    """Return a value of the given type, or say where the document is damaged."""
    if isinstance(kind, type) and is_dataclass(kind):
        return _read_fields(kind, value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (other,) = (one for one in arguments if one is not NoneType)
        return None if value is None else _read(other, value, where)
    if origin is tuple and isinstance(value, list):
        if arguments[-1] is Ellipsis:
            return tuple(_read(arguments[0], one, f"{where}[{at}]") for at, one in enumerate(value))
        if len(value) == len(arguments):
            pairs = zip(arguments, value, strict=True)
            return tuple(_read(one, held, f"{where}[{at}]") for at, (one, held) in enumerate(pairs))
    if origin is Mapping and isinstance(value, dict):
        return {name: _read(arguments[1], held, f"{where}.{name}") for name, held in value.items()}
    if kind is float:
        if value is None:
            return NAN
        if isinstance(value, str) and value in INFINITE:
            return INFINITE[value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    if kind is object:
        return value  # a parameter, which is whatever JSON holds
    if kind in (bool, int, str) and type(value) is kind:
        return value
    raise DataError(f"The audit is damaged: {where} does not hold the value that it should.")


def _read_fields(kind: type, value: Any, where: str) -> Any:  # noqa: ANN401  # one of the classes
    if not isinstance(value, dict):
        raise DataError(f"The audit is damaged: {where} should have fields.")
    types = field_types(kind)
    # A file that an earlier version wrote lacks the fields that were added since.
    later = {one.name for one in fields(kind) if one.metadata.get("later")}
    absent = [name for name in types if name not in value and name not in later]
    unknown = [name for name in value if name not in types]
    if absent or unknown:
        what = f"lacks {absent[0]!r}" if absent else f"has the unknown field {unknown[0]!r}"
        raise DataError(f"The audit is damaged: {where} {what}.")
    return kind(
        **{name: _read(types[name], held, f"{where}.{name}") for name, held in value.items()}
    )


PATH = Path(__file__).with_name("audit.schema.json")
"""The schema in the package."""


def json_schema() -> dict[str, Any]:
    """Return the schema of the documents that `Audit.to_json` writes.

    Examples
    --------
    >>> json_schema()["properties"]["format"]
    {'const': 'understudy audit'}
    """
    definitions: dict[str, Any] = {
        "share": {
            "description": "A number; null if it is undefined.",
            "anyOf": [{"type": ["number", "null"]}, {"enum": list(INFINITE)}],
        }
    }
    findings, verdict = (_schema_of(kind, definitions) for kind in (Findings, Verdict))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An audit of synthetic data by understudy",
        "description": "Shares are fractions of 1.",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "format_version": {"const": VERSION},
            "verdict": verdict,
            "findings": findings,
        },
        "required": ["format", "format_version", "verdict", "findings"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def write_schema(path: Path = PATH) -> None:
    """Write the schema to its file in the package."""
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # any type
    if isinstance(kind, type) and is_dataclass(kind):
        return _schema_of_class(kind, definitions)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (other,) = (one for one in arguments if one is not NoneType)
        return {"anyOf": [_schema_of(other, definitions), {"type": "null"}]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [_schema_of(one, definitions) for one in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    if kind is float:
        return {"$ref": "#/$defs/share"}
    names = {bool: "boolean", int: "integer", str: "string"}
    return {} if kind is object else {"type": names[kind]}


def _schema_of_class(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    reference = {"$ref": f"#/$defs/{kind.__name__}"}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # so that it is not begun again inside itself
        types = field_types(kind)
        first = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
        definitions[kind.__name__] = {
            "description": first,
            "type": "object",
            "properties": {name: _schema_of(one, definitions) for name, one in types.items()},
            "required": [one.name for one in fields(kind) if not one.metadata.get("later")],
            "additionalProperties": False,
        }
    return reference
