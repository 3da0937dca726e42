"""The ways to read a release: plainly, by half of the columns, by those that hang together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.learning.mixed_distance import PlacedTable
from understudy.risk.lookalikes.exchanged_names import exchanged_names
from understudy.risk.lookalikes.kept_pairs import KeptPair, kept_pair
from understudy.risk.lookalikes.linked import linked_groups
from understudy.risk.renamed import recoded, renamed_columns, unlike_columns

FEWEST_HALVED = 4
"""With fewer columns, half of them tell hardly anybody from others."""
NEARLY_ALL = 0.8
"""A value that more people share tells nothing: columns with one are no part of the better half,
which strangers would fill with them."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read a release.

    Parameters
    ----------
    synthetic : PlacedTable
        Its records, and the columns that are compared.
    proves : bool
        Whether it means something that nothing is found.
    recoded : tuple of str
        Columns that are read as a code.
    half : bool
        Whether the better half of the columns counts, for each person and record.
    linked : bool
        Whether only columns count that hang together as in the original.
    exchanged : bool
        Whether its numbers are taken to stand under each other's names.
    pair : KeptPair or None
        The two numbers that count, if only they do, for people in whom both are telling.
    """

    synthetic: PlacedTable
    proves: bool = False
    recoded: tuple[str, ...] = ()
    half: bool = False
    linked: bool = False
    exchanged: bool = False
    pair: KeptPair | None = None


def readings_of(
    original: PlacedTable, synthetic: PlacedTable, *, people: bool = True
) -> list[Reading]:
    """Return the ways to read a release; just one if its columns hold what the original's do.

    A copy does not look alike in a column whose values have other names or another scale, so that
    such columns would hide it. They are left out, and also read as a code. So would columns that
    were cut loose from the others: there may be a copy in the rest, if only in two exact numbers.
    And numbers may stand under each other's names. Pairs are looked at if each record is a person.
    """
    renamed = renamed_columns(original, synthetic)
    unlike = [name for name in unlike_columns(original, synthetic) if name not in renamed]
    names = [name for name in original.columns if name not in renamed]
    known = [name for name in names if name not in unlike]
    found = []
    if known:
        found.append(Reading(synthetic.select(known), proves=True))
    if len(telling := _telling(original.select(names))) >= FEWEST_HALVED:
        found.append(Reading(synthetic.select(telling), half=True))
    groups = linked_groups(original.select(known), synthetic.select(known))
    found += [Reading(synthetic.select(group), linked=True) for group in groups]
    if unlike:
        found.append(Reading(synthetic.select(names)))
    numbers = original.columns[: original.numeric]
    # If one number has another scale, others may have one that is less plain.
    scaled = [name for name in numbers if name in names] if set(unlike) & set(numbers) else []
    codes = tuple(
        dict.fromkeys([*unlike, *scaled, *(name for name in renamed if name not in numbers)])
    )
    if codes and len({*names, *codes}) >= FEWEST_HALVED:
        whole = synthetic.select([*names, *codes])
        base = original.select(whole.columns)
        flips = (False, True) if set(codes) & set(numbers) else (False,)
        found += [Reading(recoded(base, whole, codes, flip=flip), recoded=codes) for flip in flips]
    if (order := exchanged_names(original, synthetic)) is not None:
        base, whole = original.select(numbers), synthetic.select(numbers)
        moved = replace(whole, values=whole.values[list(order)])
        found.append(Reading(recoded(base, moved, numbers), recoded=numbers, exchanged=True))
    pair = kept_pair(original.select(known), synthetic.select(known)) if people else None
    if pair is not None:
        found.append(Reading(synthetic.select(pair.columns), pair=pair))
    return found


def _telling(original: PlacedTable) -> list[str]:
    """Return the columns of which no value is shared by nearly all; see `NEARLY_ALL`."""
    most = [np.unique(values, return_counts=True)[1].max() for values in original.values]
    shares = zip(original.columns, most, strict=True)
    return [name for name, people in shares if people <= NEARLY_ALL * original.rows]
