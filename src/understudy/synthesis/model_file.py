"""Model files: one npz archive of NumPy arrays with a JSON header, and nothing that runs."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._version import __version__
from understudy.data.files import write_bytes
from understudy.errors import ModelFileError
from understudy.showing import told

FORMAT = "understudy model"
VERSION = 1
HEADER = "model.json"
SMALL = 2**28
"""Bytes that any model file may unpack to, however small it is."""
RATIO = 200
"""How many times its size a larger one may unpack to: counts of rare values are mostly zeros."""
MOST_ARRAYS = 100_000
_KINDS = "biuf"
"""Truth values and numbers: what the arrays of a model hold."""
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes at any time


def write_model(
    description: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    path: str | Path,
    *,
    overwrite: bool = False,
) -> Path:
    """Write a model file, whole or not at all: a description that JSON can hold, and arrays."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "understudy": __version__,
        "note": "Confidential: a model holds counts of the original records, and some of their "
        "numbers as cut points.",
        **description,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        text = json.dumps(header, ensure_ascii=False, allow_nan=False, indent=1, default=_plain)
        _add(archive, HEADER, text.encode())
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            _add(archive, f"{name}.npy", member.getvalue())
    return write_bytes(buffer.getvalue(), path, overwrite=overwrite)


def _plain(value: Any) -> Any:  # noqa: ANN401  # what a user gave as a parameter
    """Return a NumPy number or a collection as JSON can hold it."""
    return value.item() if isinstance(value, np.generic) else list(value)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def read_model(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a model file's header and arrays; raise if it is damaged, or not one we can read.

    Nothing is unpacked before its size is known: not the file as a whole, and no array.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(archive, path)
            header = _read_header(archive, path)
            names = [name for name in archive.namelist() if name != HEADER]
            _check_names(names)
            return header, {name.removesuffix(".npy"): _read_array(archive, name) for name in names}
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be opened: {error.strerror}.") from error
    except zipfile.BadZipFile:
        raise ModelFileError(f"{path} is not a model of understudy, or it is damaged.") from None
    except ModelFileError:
        raise
    except MemoryError as error:
        raise ModelFileError(f"{path} needs more memory than there is.") from error
    except (
        ArithmeticError,
        EOFError,
        LookupError,
        RuntimeError,  # and NotImplementedError: a way of packing that zip has and we do not
        TypeError,
        ValueError,
        zlib.error,
    ) as error:
        raise ModelFileError(f"{path} is damaged: {told(error)}.") from error


def _check_size(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse an archive that would unpack to far more than a model of its size does."""
    unpacked = sum(entry.file_size for entry in archive.infolist())
    packed = path.stat().st_size
    if unpacked > max(SMALL, RATIO * packed):
        raise ModelFileError(
            f"{path} is not used: its {packed:,} bytes would unpack to {unpacked:,}, which no "
            "model of understudy does. If you made it yourself, fit the model again."
        )


def _check_names(names: Sequence[str]) -> None:
    """Raise ValueError if a file holds anything but arrays, or one twice."""
    if len(names) > MOST_ARRAYS:
        raise ValueError(f"{len(names):,} arrays")
    if len(set(names)) < len(names):
        raise ValueError("an array that is there twice")
    if not all(name.endswith(".npy") for name in names):
        raise ValueError("something that is no array")


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return an array, if what it says of itself agrees with the bytes that there are."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError("an array of another format")
        shape, _, kind = np.lib.format.read_array_header_1_0(file, max_header_size=10_000)
        told = math.prod(shape) * kind.itemsize
        if kind.kind not in _KINDS or min(shape, default=0) < 0 or told != size - file.tell():
            raise ValueError("an array that is not what it says")
    return np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    if HEADER not in archive.namelist():
        raise ModelFileError(f"{path} is not a model of understudy.")
    header = json.loads(archive.read(HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a model of understudy.")
    version = header.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ModelFileError(
            f"{path} was written by a newer understudy ({header.get('understudy')}): its format is "
            f"{version}, and this version reads {VERSION}. Update understudy to use it."
        )
    if version != VERSION:
        raise ModelFileError(f"{path} is damaged: its format is {version!r}, not {VERSION}.")
    return header
