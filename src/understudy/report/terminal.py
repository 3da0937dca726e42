"""Tables and bars in the terminal, with Rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from understudy.data import Column
from understudy.privacy import Ledger
from understudy.progress import Description
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Synthesizer
from understudy.synthesis.base import RARE_BELOW
from understudy.synthesis.bayes.levels import Parent
from understudy.synthesis.cart.binned import MOST_BINS
from understudy.synthesis.panel.model import Panel
from understudy.synthesis.panel.synthesizer import PanelSynthesizer
from understudy.wording import quoted, times_in_words

Item = TypeVar("Item")


class TerminalProgress:
    """Shows progress bars while the block runs, and nothing of them afterwards."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def track(
        self, items: Iterable[Item], description: Description, total: float | None
    ) -> Iterator[Item]:
        """Yield `items`, with a bar that counts them and goes when they are finished."""

        def told() -> str:
            return description if isinstance(description, str) else description()

        task = self._progress.add_task(told(), total=total)
        try:
            for item in self._progress.track(items, total=total, task_id=task):
                yield item
                self._progress.update(task, description=told())
        finally:
            self._progress.remove_task(task)


def model_summary(model: Synthesizer) -> Group:
    """Return what a fitted model is: its method, its parameters, and how it sees each column."""
    table = Table(title="Columns", title_justify="left", header_style="bold")
    for heading in ("column", "kind", "role", "coded as"):
        table.add_column(heading, overflow="fold")
    for heading in ("codes", "missing"):
        table.add_column(heading, justify="right")
    sizes = dict(zip(model.codec_.names, model.codec_.cardinalities, strict=True))
    for column in model.schema_:
        table.add_row(
            Text(column.name),
            column.kind,
            column.role,
            coding_in_words(column, exact=model.exact),
            str(sizes.get(column.name, "-")),
            f"{column.missing:.1%}",
        )
    lines: list[RenderableType] = [
        Text(f"{type(model).__name__}, fitted to {model.n_rows_:,} records", style="bold"),
        Text(repr(model)),
        *_confidentiality(model),
    ]
    return Group(*lines, table, *_learnt(model), *_times(model))


def _learnt(model: Synthesizer) -> Iterator[RenderableType]:
    """Yield what a model of each method has learnt."""
    if isinstance(model, PanelSynthesizer) and model.panel_ is not None:
        yield from _panel_summary(model.panel_)
    elif isinstance(model, BayesNet):
        yield from _network_summary(model)
    elif isinstance(model, Cart):
        yield from _tree_summary(model)
    elif isinstance(model, GaussianCopula):
        yield _correlation_summary(model)


def _times(model: Synthesizer) -> Iterator[Text]:
    words = times_in_words(model.description_seconds_, model.generation_seconds_)
    if words:
        yield Text(f"{words}.")


def _confidentiality(model: Synthesizer) -> Iterator[RenderableType]:
    """Yield what a model tells of single records: its ledger, or how many cells are rare."""
    ledger = getattr(model, "ledger_", None)
    if isinstance(ledger, Ledger):
        yield from _ledger_summary(ledger)
        return
    if getattr(model, "has_noise", False):
        yield Text(
            "Confidential: its noise does not keep the epsilon that it names.", style="yellow"
        )
        return
    cells, rare = model.cells()
    yield Text(
        f"Confidential: {rare:,} of its {cells:,} cells rest on fewer than {RARE_BELOW} records.",
        style="yellow" if rare else "",
    )


def _ledger_summary(ledger: Ledger) -> Iterator[RenderableType]:
    yield Text(ledger.in_words())
    table = Table(title="Ledger", title_justify="left", header_style="bold")
    for place, heading in enumerate(ledger.headings):
        table.add_column(heading, justify="left" if place < _TEXTS else "right", overflow="fold")
    for line in ledger.lines():
        table.add_row(*map(Text, line))
    yield table
    spent, total = float(ledger.spent), float(ledger.total)
    yield Text(
        f"{spent:.6g} of {total:.6g} spent ({ledger.currency}). Noise by OpenDP {ledger.opendp}."
    )
    yield Text("Taken for public:")
    yield from (Text(f"  {sentence}") for sentence in ledger.public)


_TEXTS = 2
"""The first columns of a ledger, which are texts."""

_PARTS = {
    "unit": "What a unit has once",
    "start": "Its first record",
    "moves": "Steps to the next record",
    "following": "A record given the one before",
}
"""What the models of a panel draw."""


def _panel_summary(panel: Panel) -> Iterator[RenderableType]:
    """Yield how a panel is drawn, and each of its models."""
    yield Text("\n".join(panel.in_words()))
    for name, model in panel.models.items():
        yield Text(f"\n{_PARTS[name]}, learnt from {model.n_rows_:,} rows", style="bold")
        if isinstance(model, BayesNet):
            yield from _network_summary(model)
        elif isinstance(model, Cart):
            yield from _tree_summary(model)


def _network_summary(model: BayesNet) -> Iterator[RenderableType]:
    """Yield the edges of a network with what they tell, smoothing, protection, and the search."""
    table = Table(
        title=f"Network: {sum(child in model.tables_ for _, child in model.network_.edges)} edges",
        title_justify="left",
        header_style="bold",
    )
    table.add_column("column", overflow="fold")
    table.add_column("depends on (what each alone says about it, in bits)", overflow="fold")
    strengths = model.smoothing_
    smoothed = [one.shrinkage for one in model.tables_.values() if one.shrinkage is not None]
    if smoothed:
        table.add_column("smoothed by (records)", overflow="fold")
    bits = {(parent, child): told for parent, child, told in model.edge_information()}
    for name in model.tables_:
        used = model.parents_[name]
        own = [", ".join(map(_strength, strengths[name]))] if smoothed else []
        table.add_row(Text(name), Text(", ".join(_uses(name, used, bits)) or "-"), *own)
    yield table
    if smoothed:
        yield Text(_smoothing_in_words(smoothed[0].min_count))
    if model.kept_columns:
        yield Text(f"Kept as in the original: {quoted(model.kept_columns)}.", style="yellow")
    for sentence in model.separations():
        yield Text(sentence)
    for sensitive, paths in model.residual_paths().items():
        if not paths:
            yield Text(f"{sensitive!r} is protected: it is independent of every other column.")
            continue
        target = paths[0][1]
        yield Text(
            f"{sensitive!r} is protected: given {target!r}, it is independent of every other "
            f"column. What remains runs through {target!r}, to {len(paths) - 1} other columns."
        )
    if model.history_ is not None:
        best = model.history_.best
        yield Text(
            f"Genetic search: best fitness {best[0]:.3f} bits at the start, {best[-1]:.3f} after "
            f"{len(best) - 1} generations  {_curve(best)}"
        )
    if model.bound_ is not None:
        total = sum(bits for _, _, bits in model.edge_information())
        yield Text(
            f"Optimal search: {total:.3f} bits; no network has more than {model.bound_:.3f}."
        )


def _uses(
    child: str, used: Sequence[Parent], bits: Mapping[tuple[str, str], float]
) -> Iterator[str]:
    """Yield a column's parents as its table uses them, each with what it says where it ends."""
    names = [one if isinstance(one, str) else one[0] for one in used]
    for place, (name, one) in enumerate(zip(names, used, strict=True)):
        words = name if isinstance(one, str) else f"{name} in {one[1]} groups"
        yield words if name in names[place + 1 :] else f"{words} ({bits[name, child]:.3f})"


def _strength(records: float | NDArray[np.float64]) -> str:
    """Return a strength in words; of a column that is drawn in steps, the range of the steps'."""
    ends = [
        f"{end:,.1f}" if end < 10 else f"{end:,.0f}" for end in (np.min(records), np.max(records))
    ]
    return " to ".join(dict.fromkeys(ends))


def _smoothing_in_words(least: int) -> str:
    """Return what the strengths of smoothing in the table of a network mean."""
    few = f" Groups of fewer than {least:,} records are not used." if least > 1 else ""
    return (
        "Smoothing: each group of records with the same values in some columns borrows from the "
        "group with one column fewer, as if that added so many records: the first number is for "
        f"all records, the next for those with the same value in the first column, and so on.{few} "
        "A range stands for a number that is drawn half by half, each half with its own strength."
    )


_PREDICTORS_SHOWN = 4


def _tree_summary(model: Cart) -> Iterator[RenderableType]:
    """Yield a table of the trees, in the order in which the columns are drawn, and the rules."""
    trees = model.trees()
    table = Table(
        title=f"Trees: {len(trees)}, in the order in which the columns are drawn",
        title_justify="left",
        header_style="bold",
    )
    stratified = len(model.strata_) > 1
    headings = ["column", "part"] + ["records with"] * stratified
    for heading in headings:
        table.add_column(heading, overflow="fold")
    smoothed = any(tree.strengths for tree in trees)
    for heading in ["leaves", "depth", "smallest leaf"] + ["from own leaf"] * smoothed:
        table.add_column(heading, justify="right")
    table.add_column("looks most often at (splits)", overflow="fold")
    for tree in trees:
        shown = list(tree.uses.items())[:_PREDICTORS_SHOWN]
        used = ", ".join(f"{name} ({times})" for name, times in shown)
        more = len(tree.uses) - len(shown)
        table.add_row(
            Text(tree.column),
            tree.part,
            *([Text(tree.stratum)] if stratified else []),
            f"{tree.leaves:,}",
            str(tree.depth),
            f"{tree.smallest_leaf:,}",
            *([f"{tree.own_share:.0%}"] if smoothed else []),
            Text((used or "-") + (f", {more} more" if more else "")),
        )
    yield table
    if model.splits_ == "histogram":
        asked = " for so many records" if model.splits == "auto" else ""
        yield Text(
            f"Splits: between at most {MOST_BINS} bins of each column{asked}, not between any two "
            "values (histogram)."
        )
    if smoothed:
        yield Text(
            "Smoothing: each leaf borrows from the node above it, and that from the next. The "
            "table shows the share of values that come from the leaf itself."
        )
    kept = [model.codec_.names[place] for place in model.plan_.kept]
    if kept and not model.is_part:
        yield Text(f"Kept as in the original: {quoted(kept)}.", style="yellow")
    for sensitive, target in (model.protect or {}).items():
        source = f"only from {target!r}" if target else "from its own shares"
        yield Text(
            f"{sensitive!r} is protected: it is drawn {source}, and no column is drawn from it."
        )
    for rule, broken in model.violations_.items():
        yield Text(f"Rule: {rule} ({broken:,} original records break it)")


_CORRELATIONS_SHOWN = 10


def _correlation_summary(model: GaussianCopula) -> Table:
    """Return the pairs of columns with the strongest correlation behind them."""
    names, found = model.codec_.names, model.correlation_
    first, second = np.triu_indices(len(names), k=1)
    strongest = np.argsort(-np.abs(found[first, second]), kind="stable")[:_CORRELATIONS_SHOWN]
    table = Table(
        title=f"Strongest of {len(first):,} correlations behind the columns",
        title_justify="left",
        header_style="bold",
    )
    for heading in ("column", "and"):
        table.add_column(heading, overflow="fold")
    table.add_column("correlation", justify="right")
    for one, other in zip(first[strongest].tolist(), second[strongest].tolist(), strict=True):
        table.add_row(Text(names[one]), Text(names[other]), f"{found[one, other]:+.3f}")
    return table


def _curve(values: NDArray[np.float64], width: int = 40) -> str:
    """Return a history as a line of bars of growing height."""
    places = np.linspace(0, len(values) - 1, min(width, len(values))).round().astype(int)
    chosen = values[places]
    span = float(np.ptp(chosen)) or 1.0
    return "".join("▁▂▃▄▅▆▇█"[int(7 * (value - chosen.min()) / span)] for value in chosen)


def coding_in_words(column: Column, *, exact: bool = False) -> str:
    """Return how a column's values become codes, in a few words.

    With `exact`, every number has a code of its own.

    Examples
    --------
    >>> coding_in_words(Column("age", "integer", range=(16, 49), special=(0,)))
    '20 quantile bins, 1 special value'
    """
    if column.kind == "identifier":
        return "made up anew"
    if not column.binned:
        levels = 2 if column.kind == "boolean" else len(column.levels)
        return f"{levels} level{'s' * (levels != 1)}"
    if exact:
        words = "each number by itself"
    elif column.binning == "edges":
        words = f"{len(column.edges) - 1} given bins"
    else:
        words = f"{column.bins} {column.binning} bins"
    if column.special:
        words += f", {len(column.special)} special value{'s' * (len(column.special) != 1)}"
    return words
