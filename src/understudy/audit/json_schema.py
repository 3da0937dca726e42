"""The JSON Schema of an audit, made from the classes of its findings.

``audit.schema.json`` in this folder is what `json_schema` returns; a test compares them. After a
change to the findings, write it anew::

    python -c "from understudy.audit.json_schema import write_schema; write_schema()"
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from understudy.audit.findings import Findings
from understudy.audit.json_form import FORMAT, INFINITE, VERSION, field_types

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
    root = _of(Findings, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An audit of synthetic data by understudy",
        "description": "Shares are fractions of 1.",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "format_version": {"const": VERSION},
            "findings": root,
        },
        "required": ["format", "format_version", "findings"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def write_schema(path: Path = PATH) -> None:
    """Write the schema to its file in the package."""
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # any type
    if isinstance(kind, type) and is_dataclass(kind):
        return _of_class(kind, definitions)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (other,) = (one for one in arguments if one is not NoneType)
        return {"anyOf": [_of(other, definitions), {"type": "null"}]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [_of(one, definitions) for one in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if kind is float:
        return {"$ref": "#/$defs/share"}
    return {"type": {int: "integer", str: "string"}[kind]}


def _of_class(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    reference = {"$ref": f"#/$defs/{kind.__name__}"}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # so that it is not begun again inside itself
        types = field_types(kind)
        first = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
        definitions[kind.__name__] = {
            "description": first,
            "type": "object",
            "properties": {name: _of(one, definitions) for name, one in types.items()},
            "required": list(types),
            "additionalProperties": False,
        }
    return reference
