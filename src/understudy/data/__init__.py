"""Tables at the edge of the package: frames and files, schemas, codes, and bundled examples."""

from understudy.data.bundled import load, load_syntheses, simulate
from understudy.data.codec import Codec
from understudy.data.coded import Coded
from understudy.data.decisions import Decisions, decisions
from understudy.data.dependencies import (
    Composite,
    Dependency,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
)
from understudy.data.dependencies.finding import find_dependencies
from understudy.data.dialect import Dialect
from understudy.data.files import detect, read, write
from understudy.data.formats import ColumnFormat
from understudy.data.holdout import Parts, hold_out
from understudy.data.public_tables import fetch
from understudy.data.schema import Column, Schema
from understudy.data.source import CodedStream, TableSource
from understudy.data.stream import FileStream, scan
from understudy.data.typed_dialect import TypedDialect

__all__ = [
    "Codec",
    "Coded",
    "CodedStream",
    "Column",
    "ColumnFormat",
    "Composite",
    "Decisions",
    "Dependency",
    "Determined",
    "Dialect",
    "FileStream",
    "Formula",
    "MissingTogether",
    "MissingWhen",
    "Ordered",
    "Parts",
    "Schema",
    "TableSource",
    "TypedDialect",
    "decisions",
    "detect",
    "fetch",
    "find_dependencies",
    "hold_out",
    "load",
    "load_syntheses",
    "read",
    "scan",
    "simulate",
    "write",
]
