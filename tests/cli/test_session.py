"""Folders that are written whole or not at all."""

from __future__ import annotations

import logging
import os

import pytest

from understudy.cli import session
from understudy.cli.session import check_folder, replaced_folder
from understudy.errors import DataError


def is_text(name):
    return name.endswith(".txt")


def make(path, text, *, overwrite=False):
    with replaced_folder(path, is_text, overwrite=overwrite) as folder:
        (folder / "a.txt").write_text(text)
        assert not path.exists() or (path / "a.txt").read_text() != text


def test_it_is_there_at_the_end_with_the_usual_permissions(tmp_path):
    make(tmp_path / "new", "one")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_earlier_one_is_replaced_as_a_whole(tmp_path):
    make(tmp_path / "new", "one")
    (tmp_path / "new" / "b.txt").write_text("gone")
    make(tmp_path / "new", "two", overwrite=True)
    assert [path.read_text() for path in (tmp_path / "new").iterdir()] == ["two"]
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("earlier", [False, True])
def test_an_error_leaves_all_as_it_was(tmp_path, error, earlier):
    if earlier:
        make(tmp_path / "new", "one")

    def fail():
        with replaced_folder(tmp_path / "new", is_text, overwrite=True) as folder:
            (folder / "a.txt").write_text("two")
            raise error

    with pytest.raises(error):
        fail()
    assert [path.read_text() for path in tmp_path.rglob("*.txt")] == ["one"] * earlier
    assert [path.name for path in tmp_path.iterdir()] == ["new"] * earlier


def test_the_earlier_one_comes_back_if_it_cannot_be_replaced(tmp_path, monkeypatch):
    make(tmp_path / "new", "one")
    rename = os.rename

    def fail(source, target, **options):
        if str(source).endswith("new") and ".part" in str(source):
            raise OSError(28, "No space left on device")
        rename(source, target, **options)

    monkeypatch.setattr("os.rename", fail)
    with pytest.raises(DataError, match="new cannot be written: No space left on device"):
        make(tmp_path / "new", "two", overwrite=True)
    assert (tmp_path / "new" / "a.txt").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


class TestChecks:
    def refused(self, path, says, *, overwrite=True, inputs=()):
        with pytest.raises(DataError, match=says):
            check_folder(path, is_text, overwrite=overwrite, inputs=inputs)

    def test_what_is_there_already(self, tmp_path):
        make(tmp_path / "new", "one")
        self.refused(tmp_path / "new", "new already exists. Choose", overwrite=False)
        check_folder(tmp_path / "new", is_text, overwrite=True)
        (tmp_path / "new" / "deep.txt").mkdir()
        (tmp_path / "new" / "deep.txt" / "photo.jpg").write_text("precious")
        self.refused(tmp_path / "new", "holds 'deep.txt/photo.jpg', which does not belong there")

    def test_a_file_and_a_link(self, tmp_path):
        (tmp_path / "file").write_text("precious")
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "folder")
        for name in ("file", "link"):
            self.refused(tmp_path / name, f"{name} already exists and is not a folder")

    def test_one_that_holds_what_is_read(self, tmp_path):
        make(tmp_path / "new", "one")
        for inside in ("new/a.txt", "new/deep/er.txt", "new"):
            self.refused(tmp_path / "new", "which would be replaced", inputs=[tmp_path / inside])
        check_folder(
            tmp_path / "new", is_text, overwrite=True, inputs=[None, tmp_path / "newer.txt"]
        )

    def test_a_folder_around_it(self, tmp_path, monkeypatch):
        self.refused(tmp_path / "no" / "new", "There is no folder .*no; create it first")
        # Root may write anywhere, so the answer of the system is replaced.
        monkeypatch.setattr("os.access", lambda *_: False)
        self.refused(tmp_path / "new", "cannot be written to")


def test_the_same_warning_is_shown_once_and_other_messages_as_often_as_they_come():
    is_new = session.each_once()

    def record(text, level=logging.WARNING):
        return logging.LogRecord("understudy", level, "", 0, text, None, None)

    assert is_new(record("lost"))
    assert not is_new(record("lost"))
    assert is_new(record("kept"))
    assert is_new(record("done", logging.INFO))
    assert is_new(record("done", logging.INFO))


def test_a_file_that_cannot_be_written_is_told_by_the_name_that_it_would_have(tmp_path):
    with (
        pytest.raises(DataError, match=f"^{tmp_path}/release/report.html cannot be written"),
        replaced_folder(tmp_path / "release", lambda _: True, overwrite=False) as folder,
    ):
        raise DataError(f"{folder}/report.html cannot be written: No space left on device.")
    assert list(tmp_path.iterdir()) == []
