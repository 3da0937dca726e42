"""Results of long runs in a file, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any


def kept_or_made(
    keep: Path | None,
    asked: Sequence[Any],
    make: Callable[[Sequence[int]], Iterable[Any]],
) -> list[Any]:
    """Return an answer to each question: as it was kept, or made now and then kept.

    Parameters
    ----------
    keep : Path, optional
        The file: a line of JSON for each answer. Without one, all answers are made.
    asked : sequence
        The questions, as values that JSON can hold.
    make : callable
        Yields the answers to the questions at some places, in their order, as such values.
    """
    held = {} if keep is None else _read(keep)
    missing = [place for place, question in enumerate(asked) if _key(question) not in held]
    for place, answer in zip(missing, make(missing), strict=True):
        held[_key(asked[place])] = answer
        if keep is not None:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"name": asked[place], "judged": answer}) + "\n")
    return [held[_key(question)] for question in asked]


def _read(keep: Path) -> dict[str, Any]:
    """Return the answers that a file holds, by their questions."""
    text = keep.read_text("utf-8") if keep.is_file() else ""
    # The last line was cut off if a run was killed while it was written.
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        keep.write_text(whole, "utf-8")
    lines = [json.loads(line) for line in whole.splitlines()]
    return {_key(line["name"]): line["judged"] for line in lines}


def _key(question: Any) -> str:  # noqa: ANN401  # whatever JSON can hold
    return json.dumps(question, sort_keys=True)
