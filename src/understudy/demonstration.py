"""The demonstration: the bundled survey, synthesized, set beside the original, and attacked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.counting import marginal_counts, pairwise_information
from understudy.data import Codec, Coded, Schema, load
from understudy.data.files import check_writable
from understudy.errors import DataError
from understudy.risk import Overview, overview
from understudy.synthesis import Independent

if TYPE_CHECKING:
    from rich.console import Group


@dataclass(frozen=True)
class Link:
    """Two columns and the bits that each tells of the other."""

    one: str
    other: str
    original: float
    synthetic: float
    by_chance: float


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration made."""

    codec: Codec
    original: Coded
    synthetic: Coded
    attack: Overview
    files: dict[Path, str]

    def strongest_link(self) -> Link:
        """Return the two columns that tell most of each other in the original."""
        before = np.triu(pairwise_information(self.original), 1)
        after = pairwise_information(self.synthetic)
        one, other = (int(place) for place in np.unravel_index(np.argmax(before), before.shape))
        seen = [np.count_nonzero(counts) for counts in marginal_counts(self.synthetic)]
        # The mean of the mutual information of two unrelated columns (Miller 1955).
        chance = (seen[one] - 1) * (seen[other] - 1) / (2 * len(self.synthetic) * np.log(2))
        names = (self.original.names[one], self.original.names[other])
        return Link(*names, float(before[one, other]), float(after[one, other]), float(chance))

    def picture(self) -> Group:
        """Return the shares of each column, original and synthetic, for the terminal."""
        from rich.console import Group
        from rich.text import Text

        from understudy.report.terminal import ORIGINAL, SYNTHETIC, side_by_side

        link = self.strongest_link()
        heading = Text.assemble(
            ("Contraceptive Method Choice", "bold"),
            f", {len(self.original):,} women: the ",
            ("original", ORIGINAL),
            " survey and its ",
            ("synthetic", SYNTHETIC),
            " stand-in.\n",
        )
        closing = Text(
            f"\nEvery column was drawn on its own: its shares are kept, its links are gone. "
            f"{link.one} and {link.other} share {link.original:.2f} bits in the original and "
            f"{link.synthetic:.2f} in the synthetic table, where chance alone gives about "
            f"{link.by_chance:.2f}."
        )
        return Group(heading, side_by_side(self.codec, self.original, self.synthetic), closing)


def run_demo(folder: Path, *, seed: int, overwrite: bool) -> Demonstration:
    """Synthesize the bundled survey into `folder`, and attack the result."""
    files = {
        folder / "synthetic.csv": "the synthetic survey",
        folder / "model.us": "the fitted model; see it with `understudy show`",
        folder / "schema.toml": "what the columns are, to read and to correct",
    }
    synthetic_path, model_path, schema_path = files
    if folder.is_dir():
        for path in files:
            check_writable(path, overwrite=overwrite)
    else:
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise DataError(
                f"The folder {folder} cannot be made: {error.strerror}. Choose another name."
            ) from error
    survey = load("cmc")
    schema = Schema.infer(survey).with_roles(
        keys=("age", "education", "children", "religion", "working"),
        sensitive=("husband_education",),
        target=("method",),
    )
    model = Independent(random_state=seed).fit(survey, schema)
    schema.save(schema_path, overwrite=overwrite)
    model.save(model_path, overwrite=overwrite)
    model.sample_to(synthetic_path, overwrite=overwrite)
    original, synthetic = model.codec_.encode(survey), model.sample_coded()
    attack = overview(
        survey,
        model.sample(),
        keys=schema.keys,
        sensitive=schema.sensitive[0],
        classifiers=None,  # they would take longer than all the rest
    )
    return Demonstration(model.codec_, original, synthetic, attack, files)
