"""Model files: one npz archive of NumPy arrays with a JSON header, and nothing that runs."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._version import __version__
from understudy.data.files import write_bytes
from understudy.errors import ModelFileError

FORMAT = "understudy model"
VERSION = 1
HEADER = "model.json"
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
    """Return a model file's header and arrays; raise if it is damaged, or not one we can read."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_header(archive, path), {
                name.removesuffix(".npy"): np.lib.format.read_array(
                    io.BytesIO(archive.read(name)), allow_pickle=False
                )
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be opened: {error.strerror}.") from error
    except zipfile.BadZipFile:
        raise ModelFileError(f"{path} is not a model of understudy, or it is damaged.") from None
    except ModelFileError:
        raise
    except (
        ArithmeticError,
        EOFError,
        LookupError,
        RuntimeError,  # and NotImplementedError: a way of packing that zip has and we do not
        TypeError,
        ValueError,
        zlib.error,
    ) as error:
        raise ModelFileError(f"{path} is damaged: {error}.") from error


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
