"""The synthesizer that draws one column after the other from the leaves of trees."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_flag, check_whole
from understudy.counting import Source, marginal_counts
from understudy.data import Codec, Coded
from understudy.data.coded import Codes, code_dtype
from understudy.data.value_coder import Smoothing, ValueCoder
from understudy.errors import NoDensityError, ParameterError
from understudy.showing import may_name
from understudy.synthesis.bayes.smoothing import AUTO
from understudy.synthesis.blocks import BLOCK_ROWS, Block, RandomState
from understudy.synthesis.cart import packing
from understudy.synthesis.cart.features import Feature, read_features
from understudy.synthesis.cart.panel_parts import check_panel_params, set_tree_params
from understudy.synthesis.cart.plan import (
    FEW_PREDICTORS,
    WIDE,
    Plan,
    Predictors,
    Splits,
    UsedSplits,
    Wishes,
    check_settings,
    keep_most_telling,
    splits_for,
)
from understudy.synthesis.cart.recipe import Recipe, Strata, Trees, TreeSummary, summarize
from understudy.synthesis.cart.rules import RuleBook, read_rules, rules_to_plain
from understudy.synthesis.cart.sampling_tables import tree_tables
from understudy.synthesis.cart.smoothing import LeafSmoothing
from understudy.synthesis.panel.outline import Outline
from understudy.synthesis.panel.parts import Part
from understudy.synthesis.panel.synthesizer import Follow, PanelSynthesizer
from understudy.synthesis.sampler import SamplingTable
from understudy.synthesis.settings import PerColumn, columns_named, settings_of
from understudy.wording import quoted


class Cart(PanelSynthesizer):
    r"""Draws each column from the leaves of a tree on the columns before it.

    The first column is drawn from its own shares. For each later one a tree is grown on the
    original records, with the columns before it as predictors; a synthetic record is led down the
    tree, and takes the value of a random original record in its leaf. Numbers are therefore
    numbers of the original, unless they are smoothed.

    Parameters
    ----------
    minbucket : int or mapping
        Records in a leaf, at least; for all columns, or by column (``"*"`` stands for the others).
        More hides single records better, and keeps fewer associations.
    cp : float or mapping
        What a split must explain at least, as a share of the impurity of all records. More gives
        smaller trees; likewise by column.
    visit_sequence : sequence of str, optional
        Columns in the order in which they are drawn; those that it does not name follow in the
        order of the table.
    predictors : mapping or matrix, optional
        Which column may be predicted from which: a mapping from a column to a list of earlier
        ones (all earlier ones for a column that is not named), or a matrix of 0 and 1 with a row
        for each column and a column for each predictor, in the order of the table.
    keep : sequence of str
        Columns that are left as they are (partial synthesis). Each synthetic record then belongs
        to an original one, and all tables have as many rows as the original.
    strata : str or sequence of str, optional
        Columns by whose values the records are split; each part has trees of its own.
    proper : bool
        Grow each column's trees on a bootstrap sample of the records, a new one for each copy, so
        that copies differ by what the original leaves uncertain, too. The records are then kept
        in the model.
    smoothing : {"interpolate", "density"} or mapping, optional
        How numbers are moved away from those of the original: anywhere up to halfway to the
        neighbouring numbers, or by normal noise; rounded to the column's decimals. Special values
        and columns of rules are left alone.
    rules : sequence or mapping, optional
        What must hold: ``"if marital == 'single' then years_married = 0"``. The records that a
        condition covers are left out when the column's trees are grown, and get its value.
        Conditions can be narwhals expressions too: ``{"years_married": (condition, 0)}``.
    protect : mapping, optional
        From a sensitive column to its target, the only column that it is then drawn from (None:
        from its own shares); and nothing is drawn from a sensitive column.
    max_predictors : int, optional
        Columns that a tree looks at, at most: those that tell most of its own column. By default,
        all in a table of up to 100 columns, and 20 in a wider one without `predictors`.
    smoothing_leaves : "auto", float or mapping
        How far each leaf is drawn towards the node above it, and that towards the next, as a
        number of records that the node above is worth; 0 draws from the records of the leaf alone.
        ``"auto"`` finds the number for each tree and depth with which records are described best
        that are left out. For all columns, or by column (``"*"`` stands for the others).
    splits : {"auto", "exact", "histogram"}
        Where a tree may split a column: between any two values, or between 256 bins that hold
        about as many records each, which is much faster. ``"auto"`` takes bins for more than
        50,000 records.
    panel : bool
        Whether the records of a unit are drawn in their order, each given the one before, if the
        schema says which column names the unit. If not, each record is drawn by itself.
    random_state : int or numpy Generator, optional
        Decides the draws, and the bootstrap samples. Trees do not depend on it otherwise.

    Attributes
    ----------
    panel_ : Panel or None
        The models of a panel, which has no other trees; None if records are drawn by themselves.
    plan_ : Plan
        The columns in their order, with predictors and settings.
    strata_ : Strata
        The parts of the records that have trees of their own; one if there are no strata.
    sequences_ : tuple of TreeSequence
        The trees of each part.
    violations_ : dict
        How many original records break each rule.
    splits_ : {"exact", "histogram"}
        Where the trees could be split.

    Notes
    -----
    Trees are those of scikit-learn, with the limits of R's rpart: at least three times `minbucket`
    records to split, at most 30 levels, cost-complexity pruning with `cp`. Categories are ordered
    by the outcome before each tree is grown, so that their codes are never read as numbers and no
    search over all sets of categories is needed. With ``splits="histogram"`` our own search takes
    the place of scikit-learn's. Columns with at most 256 values have the same places to split.

    Missing and special values of numbers are drawn first, as kinds; then the ordinary numbers.

    With `smoothing_leaves`, the value v has in a node

    .. math:: p_d(v) = \frac{N_d(v) + \alpha_d \, p_{d-1}(v)}{N_d + \alpha_d}

    where the node holds :math:`N_d` records, of which :math:`N_d(v)` have the value v, and
    :math:`p_{d-1}` is that of a node above: the nearest of which it has at most half the records
    (hierarchical shrinkage [3]_). Above the root, all codes of the column are equally likely. So
    every value that the column can have is possible in every leaf. The automatic strengths
    :math:`\alpha_d` have the largest likelihood of all records, each under the counts of the
    others, for the root first, and then for one level of nodes after the other. They are at least
    half a record, and larger where that costs less than 3 nats of all records of a level, or less
    than one for each of its splits if these are of categories: a record has helped to choose the
    splits, even if it is left out of the counts. Of numbers, it is the likelihood of groups that
    counts, since a number that nobody else has could not be expected. Strata are drawn as they
    are.

    `log_likelihood` is that of the drawn codes: before smoothing, and given the kept columns. With
    `proper` it is that of the first copy.

    References
    ----------
    .. [1] Reiter (2005). Using CART to generate partially synthetic public use microdata. Journal
       of Official Statistics 21(3).
    .. [2] Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees.
    .. [3] Agarwal, Tan, Ronen, Singh, Yu (2022). Hierarchical shrinkage: improving the accuracy and
       interpretability of tree-based models. Proceedings of ICML, PMLR 162.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc").select("age", "education", "children")
    >>> model = Cart(minbucket=20, random_state=1).fit(survey)
    >>> model.sample(3).shape
    (3, 3)
    """

    method: ClassVar[str] = "cart"
    most_columns: ClassVar[int] = 3_000
    why_not_private: ClassVar[str] = (
        "Its trees are cut where single records lie, and its leaves hold their values."
    )
    exact: ClassVar[bool] = True
    per_column: ClassVar[tuple[str, ...]] = (
        "minbucket",
        "cp",
        "smoothing",
        "smoothing_leaves",
        "predictors",
    )
    former_params: ClassVar[Mapping[str, Any]] = {"smoothing_leaves": 0, "splits": "exact"}

    plan_: Plan
    strata_: Strata
    sequences_: Trees
    violations_: dict[str, int]

    def __init__(  # noqa: PLR0913, PLR0917  # each part of the method can be given by the user
        self,
        minbucket: PerColumn[int] = 5,
        cp: PerColumn[float] = 1e-8,
        visit_sequence: Sequence[str] | None = None,
        predictors: Predictors | None = None,
        keep: Sequence[str] | str = (),
        strata: Sequence[str] | str | None = None,
        proper: bool = False,
        smoothing: PerColumn[Smoothing | None] = None,
        rules: Any = None,  # noqa: ANN401  # in several forms, see `read_rules`
        protect: Mapping[str, str | None] | None = None,
        *,
        max_predictors: int | None = None,
        smoothing_leaves: PerColumn[LeafSmoothing] = AUTO,
        splits: Splits = "auto",
        panel: bool = True,
        random_state: RandomState = None,
    ) -> None:
        self.minbucket = minbucket
        self.cp = cp
        self.visit_sequence = visit_sequence
        self.predictors = predictors
        self.keep = keep
        self.strata = strata
        self.proper = proper
        self.smoothing = smoothing
        self.rules = rules
        self.protect = protect
        self.max_predictors = max_predictors
        self.smoothing_leaves = smoothing_leaves
        self.splits = splits
        self.panel = panel
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_settings(self.minbucket, self.cp, self.smoothing, self.smoothing_leaves)
        if self.max_predictors is not None:
            check_whole("max_predictors", self.max_predictors, 1)
        check_choice("splits", self.splits, ("auto", "exact", "histogram"))
        check_flag("proper", self.proper)

    def _named_columns(self, names: tuple[str, ...]) -> set[str]:
        matrix = self.predictors is not None and not isinstance(self.predictors, Mapping)
        rules = read_rules(self.rules, names)
        if matrix or any(rule.columns is None for rule in rules):
            return set(names)  # it cannot be seen which columns matter
        ruled = {name for rule in rules for name in (rule.column, *(rule.columns or ()))}
        given: list[object] = [self.predictors, self.keep, self.strata, self.protect]
        settings = (self.minbucket, self.cp, self.smoothing, self.smoothing_leaves)
        given += [one for one in settings if isinstance(one, Mapping)]
        return ruled | columns_named(given, names)

    @property
    def splits_(self) -> UsedSplits:
        """How trees are split: "exact" or "histogram"."""
        self._require_fit()
        return splits_for(self.splits, self.n_rows_)

    @property
    def _most_predictors(self) -> int | None:
        """How many columns a tree looks at, at most; None for all."""
        if self.max_predictors is None and self.predictors is None:
            return FEW_PREDICTORS if len(self.codec_.names) > WIDE else None
        return self.max_predictors

    def _fit(self, source: Source, rng: np.random.Generator) -> None:
        # Trees need all records at once.
        coded = (
            source if isinstance(source, Coded) else Coded.concatenate(list(source.coded_batches()))
        )
        features = read_features(self.codec_)
        plan = self._make_plan()
        if (most := self._most_predictors) is not None:
            plan = keep_most_telling(plan, most, features, coded)
        strata = Strata.of(coded, [coded.names[place] for place in plan.strata])
        self._prepare(features, plan, strata)
        self._check_strata()
        if self._given:
            # The whole panel has counted, and what is given comes with each draw.
            self.violations_, self._kept = {}, {}
        else:
            self.codec_ = self._with_smoothing(coded)
            self.violations_ = self._count_violations(coded)
            self._kept = {place: coded.columns[place] for place in plan.kept}
        self._records = coded if self.proper else None
        self._seed = int(rng.integers(2**63))
        self.sequences_ = self._recipe.grow(coded, [self._seed, 0] if self.proper else None)

    def check_panel(self, outline: Outline) -> None:
        """Raise if a parameter cannot be met by a panel of this outline."""
        check_panel_params(self, outline)

    def _prepare_panel(self, coded: Coded) -> None:
        self._plan_panel()
        self.codec_ = self._with_smoothing(coded)
        self.violations_ = self._count_violations(coded)

    def _plan_panel(self) -> None:
        """Plan as for single records, which says what of the parameters cannot be met."""
        everything = Strata((), np.zeros((1, 0), np.int64), np.array([self.n_rows_]))
        self._prepare(read_features(self.codec_), self._make_plan(), everything)

    def _panel_state(self) -> dict[str, NDArray[Any]]:
        return {"violations": self._violations()}

    def _restore_panel(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._plan_panel()
        self.violations_ = self._read_violations(arrays["violations"])

    def _with_params_for(self, part: Part) -> Self:
        own = self.clone()
        set_tree_params(own, self, part)
        return own

    def _prepare(self, features: tuple[Feature, ...], plan: Plan, strata: Strata) -> None:
        self.plan_, self.strata_ = plan, strata
        rules = [rule for step in plan.steps for rule in step.rules]
        self._recipe = Recipe(features, plan, strata, RuleBook.of(self.codec_, rules))
        self._later_copies: dict[int, Trees] = {}

    @property
    def _drawn_sequence(self) -> Sequence[str] | None:
        """The sequence that was asked for, of the columns that are drawn."""
        dropped = self.codec_.plan.dropped
        if not dropped or self.visit_sequence is None or isinstance(self.visit_sequence, str):
            return self.visit_sequence
        return [name for name in self.visit_sequence if name not in dropped]

    def _make_plan(self) -> Plan:
        names = self.codec_.names
        for argument in ("keep", "strata", "visit_sequence"):
            given = getattr(self, argument)
            named = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
            made_up = [name for name in self.schema_.identifiers if name in list(named)]
            if made_up:
                raise ParameterError(
                    f"{argument}: {made_up[0]!r} is an identifier, which is made up. If it is "
                    "something else, set its kind in the schema."
                )
        wishes = Wishes(
            self.minbucket,
            self.cp,
            self._drawn_sequence,
            self.predictors,
            self.keep,
            self.strata,
            read_rules(self.rules, names),
            self.protect,
            self.smoothing_leaves,
            self.splits_,
            self._changes,
        )
        return wishes.plan(names)

    def _check_strata(self) -> None:
        """Refuse parts with so few records that their one leaf would hand these out."""
        least = max((step.minbucket for step in self.plan_.steps), default=1)
        small = np.flatnonzero(self.strata_.counts < least)
        if len(self.strata_) == 1 or not len(small):
            return
        largest = small[np.argmax(self.strata_.counts[small])]
        held = int(self.strata_.counts[largest])
        such = f", such as {self.stratum_label(largest)} with {held}" if may_name(held) else ""
        raise ParameterError(
            f"strata: {len(small)} of {len(self.strata_)} parts have fewer than minbucket = "
            f"{least} records{such}. Merge levels, or use fewer columns."
        )

    def _with_smoothing(self, coded: Coded) -> Codec:
        """Return the codec with the smoothing that was asked for."""
        names = self.codec_.names
        wanted = settings_of(self.smoothing, names, None, "smoothing")
        coders = dict(self.codec_.coders)
        explicit = self.smoothing if isinstance(self.smoothing, Mapping) else {}
        ruled = self._ruled_columns()
        for name, counts in zip(names, marginal_counts(coded), strict=True):
            coder = coders[name]
            if isinstance(coder, ValueCoder):
                still = coded.position(name) in self.plan_.kept or name in ruled
                if still and explicit.get(name) is not None:
                    raise ParameterError(
                        f"smoothing: {name!r} is kept or part of a rule, so it cannot be smoothed."
                    )
                coders[name] = coder.smoothed(None if still else wanted[name], counts)
            elif explicit.get(name) is not None:
                raise ParameterError(f"smoothing: {name!r} holds no numbers.")
        return replace(self.codec_, coders=coders)

    def _ruled_columns(self) -> set[str]:
        """Return the columns of all rules: moved numbers could break what held before."""
        found: set[str] = set()
        for rule in (rule for step in self.plan_.steps for rule in step.rules):
            if rule.columns is None and self.smoothing:
                raise ParameterError(
                    "rules: with smoothing, write conditions as text, so that it can be seen which "
                    f"columns they use: {rule.text}"
                )
            found |= {rule.column, *(rule.columns or ())}
        return found

    def _count_violations(self, coded: Coded) -> dict[str, int]:
        """Return how many records break each rule, and say so of those that break or meet none."""
        drawn = {step.column for step in self.plan_.steps}
        known = {n: codes for n, codes in enumerate(coded.columns) if n not in drawn}
        log = logging.getLogger("understudy")
        found: dict[str, int] = {}
        for step in self.plan_.steps:
            first = self._recipe.book.which(step.rules, known)
            known[step.column] = coded.columns[step.column]
            for number, rule in enumerate(step.rules):
                own = first == number
                other = coded.columns[step.column] != self._recipe.book.codes[rule.column][number]
                covered, broken = np.count_nonzero(own), np.count_nonzero(own & other)
                found[rule.text] = found.get(rule.text, 0) + int(broken)
                if not covered:
                    log.warning("This rule covers no original record: %s", rule.text)
                elif broken:
                    log.warning(
                        "%s of the %s original records that this rule covers have another value, "
                        "and no synthetic one will: %s",
                        f"{broken:,}",
                        f"{covered:,}",
                        rule.text,
                    )
        return found

    def _trees_of(self, copy: int) -> Trees:
        if copy == 0 or self._records is None:
            return self.sequences_
        if copy not in self._later_copies:
            seed = [self._seed, copy]
            self._later_copies = {copy: self._recipe.grow(self._records, seed)}
        return self._later_copies[copy]

    def _blocks(self, n: int | None, seed: np.random.SeedSequence, copy: int) -> list[Block]:
        if self.plan_.kept and n is not None and n != self.n_rows_:
            raise ParameterError(
                f"n: {quoted(self.kept_columns)} of all {self.n_rows_:,} records stay as they are, "
                f"so the synthetic table has as many records; got {n!r}."
            )
        return super()._blocks(n, seed, copy)

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        rows = slice(block.first_row, block.first_row + block.rows)
        kept = {place: codes[rows] for place, codes in self._kept.items()}
        columns = self._recipe.draw(self._trees_of(block.copy), kept, block.rows, rng)
        return Coded(self.codec_.names, columns, self.codec_.cardinalities)

    def draw_given(
        self,
        known: Mapping[str, Codes],
        rows: int,
        rng: np.random.Generator,
        copy: int = 0,
        follow: Follow | None = None,
    ) -> dict[str, Codes]:
        """Draw the other columns of so many records, of which some columns are known."""
        names = self.codec_.names
        followers = {names.index(change): name for name, change in self._changes.items()}

        def following(own: NDArray[np.int64], column: int, codes: Codes) -> dict[int, Codes]:
            if follow is None or column not in followers:
                return {}
            name = followers[column]
            return {names.index(name): follow(name, codes, own)}

        kept = {place: known[names[place]] for place in self.plan_.kept}
        columns = self._recipe.draw(self._trees_of(copy), kept, rows, rng, following)
        return {
            name: codes
            for name, codes in zip(names, columns, strict=True)
            if name not in self._given
        }

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        batches = coded.batches(BLOCK_ROWS)
        found = [self._recipe.log_probability(self.sequences_, batch) for batch in batches]
        return np.concatenate([*found, np.empty(0)])

    def sampling_tables(self) -> list[SamplingTable]:
        """Return the trees as tables: what is drawn from the records of which leaf.

        Raises
        ------
        NoDensityError
            If `proper` is set: the trees then rest on a random sample of the records, and their
            counts are not those of the original.
        """
        self.require_single()
        if self.proper:
            raise NoDensityError(
                "With proper=True trees are grown on a random sample of the records, so their "
                "counts are not those of the original."
            )
        return list(tree_tables(self._recipe, self.sequences_))

    def refit_changed(self, coded: Coded, changed: Collection[str]) -> Self:
        """Return a synthesizer that learns anew from other records what depends on some columns.

        Trees that never look at these columns are not grown again.
        """
        self.require_single()
        self._check_codes(coded)
        strata = {self.codec_.names[place] for place in self.strata_.columns}
        everything = self.proper or self._most_predictors is not None or self.smoothing is not None
        everything |= splits_for(self.splits, len(coded)) != self.splits_
        if everything or not strata.isdisjoint(changed):
            return self.refit(coded)
        model = copy(self)
        model.n_rows_ = len(coded)
        model.violations_ = self._count_violations(coded) if self.violations_ else {}
        model.sequences_ = self._recipe.regrow(self.sequences_, coded, changed)
        return model

    @property
    def structure_varies(self) -> bool:
        """Whether other records may give other trees or smoothing, or strata that are refused."""
        self.require_single()
        return bool(self.strata_.columns) or any(
            step.may_split(self.n_rows_) or step.smoothing_leaves == AUTO
            for step in self.plan_.steps
        )

    @property
    def random_fit(self) -> Literal["records"] | None:
        """What a fit draws at random: with `proper`, the records that trees are grown on."""
        return "records" if self.proper else None

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns that a release takes from the original as they are."""
        kept = [self.codec_.names[place] for place in self.plan_.kept]
        told = self.codec_.plan.derived
        for name in self.codec_.plan.order:
            if name in told and kept and set(told[name]) <= set(kept):
                kept.append(name)  # who has the others has it as well
        return tuple(kept)

    @property
    def columns_set_by_rules(self) -> frozenset[str]:
        """The columns that rules set, for some records or for all."""
        return frozenset(self.codec_.names[step.column] for step in self.plan_.steps if step.rules)

    @property
    def columns_of_rules(self) -> frozenset[str]:
        """The columns that rules set or look at; all if a rule does not tell."""
        rules = [rule for step in self.plan_.steps for rule in step.rules]
        if any(rule.columns is None for rule in rules):
            return frozenset(self.codec_.names)
        looked_at = (rule.columns or frozenset() for rule in rules)
        return self.columns_set_by_rules.union(*looked_at)

    def codes_set_by_rules(self, name: str, known: Mapping[str, Codes]) -> NDArray[np.int64] | None:
        """Return the code that rules set in a column, -1 where none does, given other columns."""
        for step in self.plan_.steps:
            if self.codec_.names[step.column] == name:
                return self._recipe.book.set_to(step.rules, known)
        return None

    def broken_rules(self, known: Mapping[str, Codes]) -> dict[str, int]:
        """Return how many records break each rule, as far as these columns tell."""
        found: dict[str, int] = {}
        for step in self.plan_.steps:
            found |= self._recipe.book.broken(step.rules, known)
        return found

    def trees(self) -> list[TreeSummary]:
        """Return what each tree is like: its size, its smallest leaf, and what it looks at most.

        Examples
        --------
        >>> from understudy import load
        >>> model = Cart(minbucket=200).fit(load("cmc").select("education", "children"))
        >>> [(tree.column, tree.leaves, tree.smallest_leaf) for tree in model.trees()]
        [('education', 1, 1473), ('children', 3, 410)]
        """
        self._require_fit()
        if self.panel_ is not None:
            models = self.panel_.models.values()
            return [one for model in models if isinstance(model, Cart) for one in model.trees()]
        return [
            summary
            for number, sequence in enumerate(self.sequences_)
            for summary in summarize(sequence, self.stratum_label(number))
        ]

    def stratum_label(self, number: int) -> str:
        """Return in words which records a stratum holds; nothing if it holds all."""
        names = [self.codec_.names[place] for place in self.strata_.columns]
        codes = self.strata_.codes[number].tolist()
        return ", ".join(
            f"{name} = {self.codec_.labels(name)[code]}"
            for name, code in zip(names, codes, strict=True)
        )

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        if not len(self.keep):
            del params["keep"]
        if self.smoothing_leaves == 0:
            del params["smoothing_leaves"]
        params["rules"] = rules_to_plain(read_rules(self.rules, self.codec_.names)) or None
        if self.predictors is not None and not isinstance(self.predictors, Mapping):
            params["predictors"] = np.asarray(self.predictors).astype(int).tolist()
        return params

    def _state(self) -> dict[str, NDArray[Any]]:
        state = packing.pack(self.sequences_) | {"seed": np.array([self._seed], np.uint64)}
        state["predictors"] = packing.pack_predictors(self.plan_)
        state |= {"strata": self.strata_.codes, "strata_counts": self.strata_.counts}
        state["violations"] = self._violations()
        state |= {f"kept_{place}": codes for place, codes in self._kept.items()}
        if self._records is not None:
            state |= {f"record_{n}": codes for n, codes in enumerate(self._records.columns)}
        return state

    def _violations(self) -> NDArray[np.int64]:
        rules = [rule.text for step in self.plan_.steps for rule in step.rules]
        return np.array([self.violations_.get(text, 0) for text in rules], np.int64)

    def _read_violations(self, broken: NDArray[Any]) -> dict[str, int]:
        rules = [rule.text for step in self.plan_.steps for rule in step.rules]
        return dict(zip(rules, broken.tolist(), strict=True))

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._check_params()
        names, sizes = self.codec_.names, self.codec_.cardinalities
        features = read_features(self.codec_)
        plan = packing.unpack_predictors(arrays["predictors"], self._make_plan())
        strata = packing.unpack_strata(arrays, plan, sizes, self.n_rows_)
        self._prepare(features, plan, strata)
        self.violations_ = self._read_violations(arrays["violations"])
        kept = () if self._given else plan.kept
        self._kept = {place: self._column(arrays[f"kept_{place}"], sizes[place]) for place in kept}
        self._records = None
        if self.proper:
            columns = [self._column(arrays[f"record_{n}"], size) for n, size in enumerate(sizes)]
            self._records = Coded(names, tuple(columns), sizes)
        self._seed = int(arrays["seed"][0])
        if self._seed < 0:
            raise ValueError("a seed below 0")
        self.sequences_ = packing.unpack(arrays, features, plan.steps, len(self.strata_))

    def _column(self, codes: NDArray[Any], cardinality: int) -> Codes:
        if codes.shape != (self.n_rows_,) or int(codes.max(initial=0)) >= cardinality:
            raise ValueError("records that do not fit the columns")
        return codes.astype(code_dtype(cardinality), casting="safe")

    def _cells(self) -> list[NDArray[np.int64]]:
        return [
            model.table.cell_counts()
            for sequence in self.sequences_
            for column in sequence.columns
            for model in column.parts.values()
        ]
