"""Model files that somebody else made."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import polars as pl
import pytest

from understudy import Independent
from understudy.errors import ModelFileError
from understudy.synthesis import Synthesizer

TABLE = pl.DataFrame({"a": ["x", "y"] * 10})


@pytest.fixture
def parts(tmp_path):
    path = Independent(random_state=1).fit(TABLE).save(tmp_path / "model.us")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def load(tmp_path):
    """Load a model of the given parts."""

    def load(parts):
        with zipfile.ZipFile(tmp_path / "other.us", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        return Synthesizer.load(tmp_path / "other.us")

    return load


def npy(array):
    held = io.BytesIO()
    np.lib.format.write_array(held, array, allow_pickle=False)
    return held.getvalue()


def test_the_parts_make_a_model(load, parts):
    assert load(parts).sample().shape == TABLE.shape


def test_a_small_file_does_not_unpack_to_a_huge_one(load, parts, monkeypatch):
    monkeypatch.setattr("understudy.synthesis.model_file.SMALL", 2**20)
    with pytest.raises(ModelFileError, match=r"would unpack to [\d,]+, which no model"):
        load(parts | {"more.npy": npy(np.zeros(2**18))})


def test_an_array_that_no_such_model_has(load, parts):
    with pytest.raises(ModelFileError, match="damaged: 1 array that no such model has"):
        load(parts | {"more.npy": npy(np.zeros(3))})
    with pytest.raises(ModelFileError, match="damaged: something that is no array"):
        load(parts | {"run.py": b"print()"})


@pytest.mark.parametrize(
    "content",
    [
        npy(np.zeros(3)).replace(b"(3,)", b"(9,)"),
        npy(np.zeros(3)).replace(b"(3,), }", b"(99999999999,), }"),
        npy(np.array(["a", "b"])),
        npy(np.zeros(3)).replace(b"<f8", b"|O8"),
        npy(np.zeros(3))[:-5],
        npy(np.zeros(3)) + b"more",
        b"nothing",
    ],
)
def test_arrays_that_are_not_what_they_say(load, parts, content):
    with pytest.raises(ModelFileError, match="is damaged"):
        load(parts | {"counts.npy": content})


def test_a_type_that_there_is_not(load, parts):
    header = json.loads(parts["model.json"])
    header["codec"]["stored"][0] = {"type": "Smith"}
    with pytest.raises(ModelFileError, match="is damaged") as error:
        load(parts | {"model.json": json.dumps(header)})
    assert "Traceback" not in str(error.value)


def test_a_header_that_is_nested_without_end(load, parts):
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(ModelFileError, match="is damaged"):
        load(parts | {"model.json": deep})
