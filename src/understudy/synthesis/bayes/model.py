"""The Bayesian network synthesizer: structure search, conditional tables, ancestral sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_whole
from understudy.counting import (
    Source,
    TableSet,
    engine_for,
    joint_counts,
    pairwise_information,
)
from understudy.counting.engine import in_order
from understudy.data import Codec, Coded, Schema
from understudy.data.bins import Decoding
from understudy.data.coded import Codes
from understudy.data.coders import BinCoder
from understudy.data.ends import FEWEST_AT_ENDS
from understudy.data.source import TableSource
from understudy.data.spark_table import SparkCoded
from understudy.errors import ParameterError
from understudy.progress import track
from understudy.synthesis.bayes.constraints import Constraints, build_constraints, read_protect
from understudy.synthesis.bayes.halves import Step, SteppedTable, steps_of
from understudy.synthesis.bayes.kept import Kept, read_keep
from understudy.synthesis.bayes.levels import (
    Level,
    Levels,
    Parent,
    group_codes,
    parents_of,
    read_level_arrays,
    read_levels,
)
from understudy.synthesis.bayes.network import (
    Edge,
    Network,
    Structure,
    read_graph,
    residual_paths,
)
from understudy.synthesis.bayes.noisy_tables import NoisyTable, noisy_information
from understudy.synthesis.bayes.panel_parts import set_network_params
from understudy.synthesis.bayes.positions import Columns, Linked
from understudy.synthesis.bayes.separation import above, read_separation, separation_in_words
from understudy.synthesis.bayes.smoothing import (
    AUTO,
    Smoothing,
    check_smoothing,
    is_smoothed,
    smooth,
    smooth_steps,
)
from understudy.synthesis.blocks import Block, RandomState, seed_of
from understudy.synthesis.panel.outline import Outline
from understudy.synthesis.panel.parts import Part
from understudy.synthesis.panel.synthesizer import Follow, PanelSynthesizer
from understudy.synthesis.private import PrivateSynthesizer
from understudy.synthesis.sampler import ColumnTable, SamplingTable
from understudy.synthesis.settings import PerColumn, columns_named, settings_of
from understudy.synthesis.tables import ConditionalTable
from understudy.wording import quoted

if TYPE_CHECKING:
    import networkx as nx

    from understudy.privacy import Accountant, Neighbours

Search = Literal["predictive", "greedy", "genetic", "optimal"]
NetworkDecoding = Literal["dependent", Decoding]


class BayesNet(PrivateSynthesizer, PanelSynthesizer):
    r"""Draws each column given a few others, along a network that it learns or is given.

    Parameters
    ----------
    parents : int
        The largest number of parents of a column: more keep more of the data, and disclose more.
    structure : {"predictive", "greedy", "genetic", "optimal"}, list, mapping or networkx.DiGraph
        How the network is found, or the network itself: a list of edges (parent, child), or the
        parents of each column, which then stay in their order. There a pair (parent, groups) uses
        a parent's numbers in groups of neighbours; the parent may follow as it is.
    smoothing : "auto", float, sequence of float, or mapping
        How far each distribution is drawn towards the one with a parent fewer, as a number of
        records that this one is worth; 0 draws from the records as they are. ``"auto"`` finds the
        number for each column and number of parents with which records are described best that
        are left out. A sequence has a number for each number of parents, from none on; a mapping
        has any of these by column (``"*"`` stands for the others).
    min_count : int
        Combinations of parents' values that fewer records have are not used: the parents that
        tell least are dropped.
    parent_groups : int
        Of the predictive search: the numbers of a parent are also tried in so many groups of
        neighbours, which need fewer records to tell as much. With 1, they are not. Only columns
        with automatic smoothing use it.
    halves : bool
        Whether columns of numbers may be drawn in steps: whether there is a number, in which half
        of the bins it lies, in which half of that, and so on, each step smoothed by itself.
        Left-out records decide for each column. Only columns with automatic smoothing use it.
    order : sequence of str, optional
        All columns in the order in which they are to be drawn.
    required, forbidden : list of edges, optional
        Edges (parent, child) that the network must have, or must not have.
    protect : mapping from str to str or None, optional
        Sensitive columns and their targets: such a column depends on its target alone (on nothing
        if that is None), and no column depends on it.
    protect_from : mapping from str to sequence of str, optional
        Sensitive columns, and those that an attacker may know of people: no path of the network
        links them, so that they are independent. Other columns may depend on both.
    keep : sequence of str
        Columns that are left as they are (partial synthesis), and that others are drawn from. Each
        synthetic record then belongs to an original one, and all tables have as many rows as the
        original.
    root : str, optional
        The first column. If not given, the predictive search takes the one whose values vary most,
        and the greedy search draws it at random.
    population, elite, generations : int
        Of the genetic search: individuals, those that live on unchanged, and rounds.
    mutation_rate : float, optional
        Of the genetic search; one in the number of columns if not given.
    ends : int, optional
        The lowest and the highest number of a column rest on at least so many records each: the
        few beyond become one, about their mean. With 1 they are drawn as they are, up to the
        largest, which is a person's. Not given, it is 5 if anything is smoothed, and else 1. A
        column with fewer numbers stays as it is.
    epsilon : float, optional
        Learn under differential privacy: nothing becomes more than exp(epsilon) times as likely by
        one record. The network is found by noisy choices, or given; noise covers its tables. The
        schema must be public, and nothing is smoothed.
    delta : float, optional
        Only for levels that are read from the records with noise.
    neighbours : {"change-one", "add-remove"}
        What epsilon compares: one record is another, or is absent.
    spend_on_domain : float
        The share of epsilon with which levels and ranges that are not public are read from the
        records. With 0, they must be public.
    preset : "datasynthesizer", optional
        With `epsilon`, add the noise of DataSynthesizer 0.1.13 in place of ours, to compare with
        what it gives. It does not keep its epsilon, and there is no ledger.
    panel : bool
        Whether the records of a unit are drawn in their order, each given the one before, if the
        schema says which column names the unit. If not, each record is drawn by itself.
    threads : int
        Threads for counting and sampling; the result does not depend on it.
    decode : {"dependent", "interpolate", "uniform"}, optional
        How a number is drawn inside its bin: where the numbers of its parents, and the bins of its
        children, make it likely; between the quartiles of the data there; or evenly between the
        bin's ends. Not given, it is dependent if anything is smoothed and nothing is kept, and else
        interpolate.
    random_state : int or numpy Generator, optional
        Decides the search and the draws.

    Attributes
    ----------
    panel_ : Panel or None
        The networks of a panel, which has none of the other attributes; None if records are drawn
        by themselves.
    network_ : Network
        The columns in the order of drawing, and their parents, the most informative first (in the
        order in which they were chosen, if the search is predictive).
    information_ : ndarray
        Mutual information of all pairs of columns, in bits; entropies on the diagonal.
    history_ : SearchHistory or None
        How the genetic search went; what the optimal search proved is in `bound_`.
    bound_ : float or None
        An upper bound, in bits, for the sum of information over the edges of any network.
    tables_ : dict from str to ConditionalTable or SteppedTable
        The distribution of each column given its parents.
    parents_ : dict from str to tuple
        The parents of each column as its table uses them, one after the other: a parent, or a pair
        of a parent and the number of groups that its numbers are used in. A parent may come in
        groups first, and as it is later. As `structure`, it gives the same network.
    smoothing_ : dict from str to ndarray
        The strength of smoothing of each column, for no parent and for each of `parents_`. Of one
        that is drawn in steps, each is a row with a strength for each step.
    positions_ : Linked or None
        How numbers lie in their bins, if that depends on others.
    ledger_ : Ledger or None
        What was asked of the records, and what it cost; None without epsilon.

    Notes
    -----
    The greedy search is that of PrivBayes [1]_ without noise. The predictive search adds parents
    to a column, the best one first, as long as records that are left out are described better: it
    decides how many, up to `parents`. A combination of parents' values
    that no record has falls back on fewer parents, the least informative dropped first.

    With smoothing, a column's value v has, given its first j parents,

    .. math:: p_j(v) = \frac{N_j(v) + \alpha_j \, p_{j-1}(v)}{N_j + \alpha_j}

    where :math:`N_j` records have these parents' values and :math:`N_j(v)` of them have v too. Of a
    column without parents, all codes are equally likely at first: :math:`p_{-1}` is uniform. So
    every value is possible in every combination. The automatic strengths have the largest
    likelihood of all records, each under the counts of the others, for no parent first, and then
    for one parent after the other. They are at least half a record.

    Positions inside bins are normal scores. With ``decode="dependent"`` the score of a column's
    position is a linear function of the scores of its parents' numbers and of its children's bins,
    plus normal noise. There is one such regression for each bin, drawn towards that of all bins.
    The columns keep their correlations so, also in long tails. Probabilities are those of bins.

    With `epsilon` it is PrivBayes [1]_: a fifth of the budget is for choosing parents, by how many
    records would have to change for a column to be independent of them; what is left is for the
    tables, the same for each. Sets of parents are only tried if a cell of the table has twelve
    times as many records as noise, on average. `predictive` and `greedy` both mean this search.

    References
    ----------
    .. [1] Zhang, Cormode, Procopiuc, Srivastava, Xiao (2017). PrivBayes: private data release via
       Bayesian networks. ACM Transactions on Database Systems 42(4), doi:10.1145/3134428

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc").select("age", "children", "method")
    >>> model = BayesNet(parents=1, structure="optimal", random_state=1).fit(survey)
    >>> model.network_.edges
    (('age', 'children'), ('children', 'method'))
    """

    method: ClassVar[str] = "bayes"
    most_columns: ClassVar[int] = 3_000
    per_column: ClassVar[tuple[str, ...]] = ("smoothing",)
    former_params: ClassVar[Mapping[str, Any]] = {
        "smoothing": 0,
        "min_count": 1,
        "ends": 1,
        "parent_groups": 1,
        "halves": False,
        "decode": "interpolate",
    }
    decodings: ClassVar[tuple[str, ...]] = get_args(NetworkDecoding)

    network_: Network
    information_: NDArray[np.float64]
    history_: SearchHistory | None
    bound_: float | None
    tables_: dict[str, ConditionalTable | SteppedTable | NoisyTable]
    _levels: Levels
    positions_: Linked | None = None
    _kept: Kept | None = None

    def __init__(  # noqa: PLR0913  # each part of the method can be given by the user
        self,
        parents: int = 3,
        structure: Search | Sequence[Edge] | Mapping[str, Sequence[Parent]] | nx.DiGraph[str] = (
            "predictive"
        ),
        *,
        smoothing: PerColumn[Smoothing] = AUTO,
        min_count: int = 1,
        parent_groups: int = 4,
        halves: bool = True,
        order: Sequence[str] | None = None,
        required: Sequence[Edge] | None = None,
        forbidden: Sequence[Edge] | None = None,
        protect: Mapping[str, str | None] | None = None,
        protect_from: Mapping[str, Sequence[str]] | None = None,
        keep: Sequence[str] | str = (),
        root: str | None = None,
        population: int = 200,
        elite: int = 10,
        mutation_rate: float | None = None,
        generations: int = 400,
        ends: int | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Neighbours = "change-one",
        spend_on_domain: float = 0,
        preset: Literal["datasynthesizer"] | None = None,
        panel: bool = True,
        threads: int = 1,
        decode: NetworkDecoding | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.parents = parents
        self.structure = structure
        self.smoothing = smoothing
        self.min_count = min_count
        self.parent_groups = parent_groups
        self.halves = halves
        self.order = order
        self.required = required
        self.forbidden = forbidden
        self.protect = protect
        self.protect_from = protect_from
        self.keep = keep
        self.root = root
        self.population = population
        self.elite = elite
        self.mutation_rate = mutation_rate
        self.generations = generations
        self.ends = ends
        self._set_privacy(epsilon, delta, neighbours, spend_on_domain)
        self.preset = preset
        self.panel = panel
        self.threads = threads
        self.decode = decode
        self.random_state = random_state

    def _check_params(self) -> None:
        if self.decode is not None:
            check_choice("decode", self.decode, self.decodings)
        seed_of(self.random_state)
        least = {
            "parents": 0,
            "min_count": 1,
            "parent_groups": 1,
            "population": 1,
            "elite": 1,
            "generations": 0,
        }
        for name, fewest in least.items():
            check_whole(name, getattr(self, name), fewest)
        if self.ends is not None:
            check_whole("ends", self.ends, 1)
        check_smoothing(self.smoothing)
        if self.elite > self.population:
            raise ParameterError(
                f"elite must be at most the population of {self.population}; got {self.elite}."
            )
        if self.mutation_rate is not None and not 0 <= self.mutation_rate <= 1:
            raise ParameterError(f"mutation_rate must lie in [0, 1]; got {self.mutation_rate!r}.")
        if len(self.keep) and self.decode == "dependent":
            raise ParameterError(
                "decode='dependent' cannot be used with keep: where numbers lie in bins would "
                "follow those of kept columns. Leave it out."
            )
        if isinstance(self.structure, str):
            also = ", a list of edges, a mapping or a networkx.DiGraph"
            check_choice("structure", self.structure, get_args(Search), also)
        self._check_privacy()

    def _check_privacy(self) -> None:
        super()._check_privacy()
        if self.preset is not None:
            check_choice("preset", self.preset, ("datasynthesizer",))
        if self.preset is not None and self.epsilon is None:
            raise ParameterError("preset has no effect without epsilon.")
        if self.has_noise:
            self._check_settings_with_noise()

    def _check_settings_with_noise(self) -> None:
        """Raise if a setting cannot be had with epsilon, with the reason."""
        if self.structure in ("genetic", "optimal"):
            raise ParameterError(
                f"structure={self.structure!r} cannot be private: the search compares many "
                "networks by what the records say, and each comparison would have to be paid for. "
                "Leave it out, and parents are found by a few noisy choices; or give a network."
            )
        if len(self.keep):
            raise ParameterError(
                "keep cannot be had with epsilon: columns that are kept as they are have no noise."
            )
        smoothed = self.smoothing not in (AUTO, 0) or self.min_count > 1
        if smoothed or self.decode in ("dependent", "interpolate"):
            raise ParameterError(
                "With epsilon, tables are noisy, and numbers are drawn evenly inside bins: "
                "smoothing, min_count and decode cannot be set."
            )
        groups = isinstance(self.structure, Mapping) and any(
            level.groups for own in read_levels(self.structure).values() for level in own
        )
        if groups:
            raise ParameterError("structure: with epsilon, no parent can be used in groups.")

    def _draws_panel(self, schema: Schema) -> bool:
        return not self.has_noise and super()._draws_panel(schema)

    def _named_columns(self, names: tuple[str, ...]) -> set[str]:
        own = () if isinstance(self.structure, str) else (self.structure,)
        protection = (self.protect, self.protect_from, self.keep)
        given = (self.required, self.forbidden, *protection, self.root, *own)
        by_column = [one for one in (self.smoothing,) if isinstance(one, Mapping)]
        return columns_named([*given, *by_column], names)

    @property
    def _drawn_order(self) -> list[str] | None:
        """The order that was asked for, of the columns that are drawn."""
        dropped = self.codec_.plan.dropped
        return None if self.order is None else [name for name in self.order if name not in dropped]

    @property
    def is_private(self) -> bool:
        """Whether it learns with noise that keeps its epsilon."""
        return self.has_noise and self.preset is None

    @property
    def _least_at_ends(self) -> int:
        if self.has_noise:
            return 1
        if self.ends is not None:
            return self.ends
        return FEWEST_AT_ENDS if is_smoothed(self.smoothing) else 1

    @property
    def _follows_numbers(self) -> bool:
        if self.has_noise:
            return False
        if self.decode is not None:
            return self.decode == "dependent"
        return is_smoothed(self.smoothing) and not len(self.keep)

    def _number_columns(self) -> Columns:
        counts = {name: table.code_counts() for name, table in self._counted_tables.items()}
        pairs = read_separation(self.protect_from, self.codec_.names)
        apart = above(self.network_, {name for pair in pairs for name in pair})
        return Columns.of(
            self.codec_, self.network_, counts, self.information_, self.protect or (), apart
        )

    @property
    def _counted_tables(self) -> dict[str, ConditionalTable | SteppedTable]:
        """The tables that hold records as they are."""
        own = self.tables_.items()
        return {name: table for name, table in own if not isinstance(table, NoisyTable)}

    def _learn_positions(self, source: TableSource, coded: Source) -> None:
        columns = self._number_columns()
        if isinstance(coded, SparkCoded):
            parts = coded.source.summed(partial(columns.sums_in, self.codec_))
        else:
            known = coded if isinstance(coded, Coded) else None
            tables = self.codec_.with_positions(source, columns.binned, known)
            parts = in_order(columns.sums, tables, self.threads)
        self.positions_ = columns.learn(parts)

    def _draw_positions(
        self, coded: Coded, rng: np.random.Generator
    ) -> Mapping[str, NDArray[np.float64]]:
        if self.positions_ is None:
            raise ParameterError(
                "This model was fitted without positions of numbers in their bins, so it cannot "
                "draw with decode='dependent'. Fit it again, or choose 'interpolate'."
            )
        return self.positions_.draw(coded, rng)

    def _constraints(self) -> Constraints:
        return build_constraints(
            self.codec_.names,
            parents=self.parents,
            order=self._drawn_order,
            required=self.required,
            forbidden=self.forbidden,
            protect=self.protect,
            root=self.root,
            protect_from=self.protect_from,
            keep=self._kept_names,
            searched=isinstance(self.structure, str),
        ).with_given((*self._kept_names, *self._given), self._changes)

    @property
    def _kept_names(self) -> tuple[str, ...]:
        return read_keep(self.keep, self.codec_.names, self.schema_.identifiers)

    def check_panel(self, outline: Outline) -> None:  # noqa: ARG002  # whatever it looks like
        """Raise if a parameter cannot be met by a panel."""
        named = [name for name in ("keep", "protect_from") if getattr(self, name)]
        if named:
            raise ParameterError(
                f"{named[0]} cannot be used for a panel, whose records are drawn one from another. "
                "Set panel=False to draw each record by itself."
            )

    def _fit_private(self, coded: Coded, accountant: Accountant, rng: np.random.Generator) -> None:
        from understudy.synthesis.bayes.private import (
            costs_of_tables,
            noisy_tables,
            private_search,
        )

        constraints = self._constraints()
        if isinstance(self.structure, str):
            found = private_search(coded, constraints, accountant, self.n_rows_, rng)
            self.network_ = found.to_network(constraints.names)
        else:
            self.network_ = self.given_network(constraints.names)
            constraints.check(self.network_)
        own = {name: coded.cardinality(name) for name in self.network_.names}
        costs = costs_of_tables(coded, self.network_, accountant)
        scales = [accountant.scale_of(cost) for cost in costs]
        self._tell_of_noise(own, scales)
        noisy = noisy_tables(coded, self.network_, costs, accountant)
        self._take_rows(list(noisy.values()), scales, accountant)
        self._take_noisy(noisy)

    def _take_noisy(self, counts: Mapping[str, NDArray[Any]]) -> None:
        """Take over noisy counts of each column's table, whose last axis is the column's."""
        self.panel_, self.history_, self.bound_, self.positions_ = None, None, None, None
        self._set_levels({})
        tables = {name: NoisyTable.of(own) for name, own in counts.items()}
        self.information_ = noisy_information(self.network_, tables, self.codec_.names)
        self.tables_ = {**tables}

    def _learn_from(self, source: TableSource, codec: Codec) -> None:
        super()._learn_from(source, codec)
        names = self._kept_names if self.panel_ is None else ()
        self._kept = Kept.of(source, codec.schema, names) if names else None

    def _fit(self, source: Source, rng: np.random.Generator) -> None:
        constraints = self._constraints()
        if self.preset == "datasynthesizer":
            from understudy.synthesis.bayes.datasynthesizer import fit_as_datasynthesizer

            self.network_, noisy = fit_as_datasynthesizer(
                source, constraints, float(self.epsilon or 0), rng
            )
            self._take_noisy(noisy)
            return
        if not isinstance(self.structure, str):
            constraints.check(self.given_network(constraints.names))
        engine = engine_for(source, self.threads)
        self.information_ = pairwise_information(source, engine=engine)
        self.history_, self.bound_ = None, None
        self.network_, levels = self._search(source, constraints, rng)
        if self.structure != "predictive" and not isinstance(self.structure, Mapping):
            self.network_ = self._most_telling_first(self.network_)
        self._set_levels(levels)
        counted = self._count_tables(source)
        settings = self._smoothing_by_column()
        self.tables_ = {}
        for name, table in track(list(counted.items()), "Smoothing tables"):
            self.tables_[name] = self._smoothed(name, table, settings[name]).compact()

    def _smoothed(
        self, name: str, table: ConditionalTable, smoothing: Smoothing
    ) -> ConditionalTable | SteppedTable:
        """Return the table of a column smoothed; in steps, if left-out records advise it so.

        Strengths that are given for each step are those of a table in steps.
        """
        automatic = isinstance(smoothing, str)
        if not automatic and np.ndim(smoothing) == 2:
            return smooth_steps(table, self._steps_of(name), smoothing, self.min_count, name)
        found = smooth(table, smoothing, self.min_count, name)
        steps = self._steps_of(name) if automatic and self.halves else ()
        if not steps or not table.records:
            return found
        stepped = SteppedTable.of(table, steps, self.min_count)
        return stepped if stepped.left_out > found.left_out else found

    def _steps_of(self, name: str) -> tuple[Step, ...]:
        return steps_of(self.codec_.coders[name], self.codec_.cardinality(name))

    def _smoothing_by_column(self) -> dict[str, Smoothing]:
        return settings_of(self.smoothing, self.codec_.names, AUTO, "smoothing")

    def _most_telling_first(self, network: Network) -> Network:
        """Return the network with each column's parents in the order of what they tell of it."""
        places = {name: place for place, name in enumerate(self.codec_.names)}

        def ordered(child: str, parents: Sequence[str]) -> tuple[str, ...]:
            told = self.information_[places[child]]
            return tuple(sorted(parents, key=lambda name: (-told[places[name]], places[name])))

        return Network({child: ordered(child, found) for child, found in network.parents.items()})

    def _search(
        self, source: Source, constraints: Constraints, rng: np.random.Generator
    ) -> tuple[Network, dict[str, tuple[Level, ...]]]:
        """Return the network, and the levels of the tables that are more than its parents."""
        if isinstance(self.structure, Mapping):
            return self.given_network(constraints.names), read_levels(self.structure)
        if not isinstance(self.structure, str):
            return self.given_network(constraints.names), {}
        if self.structure == "greedy":
            from understudy.synthesis.bayes.greedy import greedy_search

            engine = engine_for(source, self.threads)
            structure = greedy_search(source, constraints, rng, engine=engine).structure
        elif self.structure == "predictive":
            from understudy.synthesis.bayes.predictive import predictive_search

            structure = predictive_search(
                source,
                constraints,
                min_count=self.min_count,
                groups=self._groups(),
                children=self._automatic(),
                information=self.information_,
                engine=engine_for(source, self.threads),
            )
        elif self.structure == "optimal":
            from understudy.synthesis.bayes.optimal import optimal_search

            best = optimal_search(self.information_, constraints, rng)
            structure, self.bound_ = best.structure, best.bound
        else:
            from understudy.synthesis.bayes.genetic import genetic_search

            evolved = genetic_search(
                self.information_,
                constraints,
                rng,
                population=self.population,
                elite=self.elite,
                mutation_rate=self.mutation_rate,
                generations=self.generations,
            )
            structure, self.history_ = evolved.structure, SearchHistory(evolved.best, evolved.mean)
        return structure.to_network(constraints.names), self._levels_of(structure)

    def given_network(self, names: Sequence[str]) -> Network:
        """Return the network that the user gave."""
        graph: Any = self.structure
        if isinstance(graph, Mapping):
            graph = {child: parents_of(own) for child, own in read_levels(graph).items()}
        return read_graph(graph, names, order=self._drawn_order)

    def _groups(self) -> dict[int, Codes]:
        """Return the group of each code of the columns that can be used in groups, by place."""
        if self.parent_groups == 1:
            return {}
        found = {}
        columns = zip(self.codec_.coders.values(), self.codec_.cardinalities, strict=True)
        for place, (coder, cardinality) in enumerate(columns):
            groups = group_codes(coder, cardinality, self.parent_groups)
            if groups is not None:
                found[place] = groups
        return found

    def _automatic(self) -> list[int]:
        """Return the places of the columns whose smoothing left-out records decide."""
        settings = self._smoothing_by_column()
        return [
            place for place, name in enumerate(self.codec_.names) if isinstance(settings[name], str)
        ]

    def _levels_of(self, structure: Structure) -> dict[str, tuple[Level, ...]]:
        """Return the levels of the tables of a network that was found."""
        names = self.codec_.names
        return {
            names[child]: tuple(
                Level(names[parent], self.parent_groups if grouped else 0)
                for parent, grouped in own
            )
            for child, own in enumerate(structure.levels or ())
        }

    def _set_levels(self, by_column: Mapping[str, tuple[Level, ...]]) -> None:
        """Take over the levels of tables; those of other columns are their parents as they are."""
        self._levels = Levels.of(
            {
                name: by_column.get(name, tuple(Level(parent) for parent in parents))
                for name, parents in self.network_.parents.items()
            },
            self.codec_,
        )

    def _count_tables(self, source: Source) -> dict[str, ConditionalTable]:
        names = [name for name in self.network_.names if self._draws(name)]
        if isinstance(source, Coded):
            counted = track(names, "Counting tables")
            return {
                child: ConditionalTable.of(*self._levels.columns(child, source))
                for child in counted
            }
        kernel = partial(_count_levels, names=names, levels=self._levels)
        counts = engine_for(source, self.threads).sum_over(source, kernel)
        return {
            child: ConditionalTable.from_counts(table)
            for child, table in zip(names, counts.tables, strict=True)
        }

    def _draws(self, name: str) -> bool:
        """Whether a column is drawn: it is not given or kept, and does not follow from another."""
        return not (name in self._given or name in self._changes or name in self._kept_names)

    def _blocks(self, n: int | None, seed: np.random.SeedSequence, copy: int) -> list[Block]:
        if self._kept is not None and n is not None and n != self.n_rows_:
            raise ParameterError(
                f"n: {quoted(self.kept_columns)} of all {self.n_rows_:,} records stay as they are, "
                f"so the synthetic table has as many records; got {n!r}."
            )
        return super()._blocks(n, seed, copy)

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns that a release takes from the original as they are."""
        if self._kept is None:
            return ()
        kept = list(self._kept_names)
        told = self.codec_.plan.derived
        for name in self.codec_.plan.order:
            if name in told and set(told[name]) <= set(kept):
                kept.append(name)  # who has the others has it as well
        return tuple(kept)

    def _known_values(self, block: Block) -> Mapping[str, pa.Array]:
        return {} if self._kept is None else self._kept.columns(block, self.codec_.types)

    def _kept_codes(self, block: Block) -> dict[str, Codes]:
        if self._kept is None:
            return {}
        table = pa.table(dict(self._known_values(block)))
        coded = self.codec_.select(self._kept.codec.names).encode(table)
        return dict(zip(coded.names, coded.columns, strict=True))

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        known = self._kept_codes(block)
        drawn = known | self.draw_given(known, block.rows, rng)
        names = self.codec_.names
        return Coded(names, tuple(drawn[name] for name in names), self.codec_.cardinalities)

    def draw_given(
        self,
        known: Mapping[str, Codes],
        rows: int,
        rng: np.random.Generator,
        copy: int = 0,  # noqa: ARG002  # all copies are drawn from the same tables
        follow: Follow | None = None,
    ) -> dict[str, Codes]:
        """Draw the other columns of so many records, of which some columns are known."""
        drawn: dict[str, Codes] = {}
        for child, parents in self.network_.parents.items():
            if self._draws(child):
                codes = self._levels.of_column(child, {**known, **drawn})
                drawn[child] = self.tables_[child].draw(codes, rows, rng)
            elif child in self._changes and follow is not None:
                drawn[child] = follow(child, drawn[parents[0]], np.arange(rows))
        return drawn

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        total = np.zeros(len(coded))
        with np.errstate(divide="ignore"):
            for child, table in self.tables_.items():
                codes = self._levels.of_column(child, coded)
                total += np.log(table.probability(coded[child], codes))
        return total

    def _prepare_panel(self, coded: Coded) -> None:  # noqa: ARG002  # networks have no more in common
        names = self.codec_.names
        rules = build_constraints(
            names,
            parents=self.parents,
            order=self.order,
            required=self.required,
            forbidden=self.forbidden,
            protect=self.protect,
            root=self.root,
        )
        if not isinstance(self.structure, str):
            rules.check(self.given_network(names))
        self._smoothing_by_column()

    def _with_params_for(self, part: Part) -> Self:
        own = self.clone()
        set_network_params(own, self, part)
        return own

    def refit(self, coded: Coded) -> Self:
        """Return a synthesizer with the same parameters and coding, fitted to other records.

        A search that draws its root, of which nothing else is known, begins at least at the same.
        """
        self.require_no_noise()
        self.require_single()
        self._check_kept(coded)
        free = self.structure == "greedy" and not self.protect and self.order is None
        if self.fit_is_known or not free:
            model = super().refit(coded)
        else:
            rooted = copy(self)
            rooted.root = self.network_.names[0]
            model = super(BayesNet, rooted).refit(coded)
        # Codes do not tell where in their bins numbers lie: like the bins, that stays as it is.
        model.positions_ = self.positions_
        model._kept = self._kept  # noqa: SLF001  # of this class
        return model

    def _check_kept(self, coded: Coded) -> None:
        """Raise if other records differ from the original ones in what a release keeps of them."""
        if self._kept is None:
            return
        everybody = Block(0, self.n_rows_, np.random.SeedSequence(0))
        own = self._kept_codes(everybody)
        same = len(coded) == self.n_rows_ and all(
            np.array_equal(coded[name], codes) for name, codes in own.items()
        )
        if not same:
            raise ParameterError(
                f"{quoted(self.kept_columns)} of the original records are kept as they are, so the "
                "model cannot be fitted to records that differ there."
            )

    @property
    def structure_varies(self) -> bool:
        """Whether other records may give another network, order of parents, or smoothing.

        Of several parents, what each tells decides which is dropped first.
        """
        self.require_single()
        automatic = any(isinstance(one, str) for one in self._smoothing_by_column().values())
        if automatic or isinstance(self.structure, str):
            return True
        several = any(len(parents) > 1 for parents in self.network_.parents.values())
        return several and not isinstance(self.structure, Mapping)

    @property
    def smoothing_(self) -> dict[str, NDArray[np.float64]]:
        """The strength of smoothing of each column, for no parent and for each of `parents_`.

        Examples
        --------
        >>> from understudy import load
        >>> survey = load("cmc").select("age", "children")
        >>> model = BayesNet(structure=[("age", "children")], smoothing=5).fit(survey)
        >>> model.smoothing_
        {'age': array([5.]), 'children': array([5., 5.])}
        """
        self.require_single()
        found = {}
        for name, table in self.tables_.items():
            if isinstance(table, SteppedTable):
                found[name] = table.strengths
                continue
            none = np.zeros(len(self._levels.sizes_of(name)) + 1)
            found[name] = none if table.shrinkage is None else table.shrinkage.strengths
        return found

    @property
    def random_fit(self) -> Literal["search"] | None:
        """What a fit draws at random: a genetic or optimal search, its steps."""
        return "search" if self.structure in ("genetic", "optimal") else None

    def sampling_tables(self) -> list[SamplingTable]:
        """Return the table of each column given its parents, in the order of drawing."""
        self.require_no_noise()
        self.require_single()
        found: list[SamplingTable] = []
        tables = self._counted_tables
        for child, levels in self._levels.by_column.items():
            if child not in tables:
                continue
            table = tables[child]
            if isinstance(table, SteppedTable):
                parents = [level.parent for level in levels]
                found += table.sampling_tables(child, parents, self._levels.maps(child))
                continue
            found.append(
                ColumnTable(
                    child,
                    table.cardinality,
                    tuple(level.parent for level in levels),
                    table.ranges.sizes,
                    table.donors,
                    table.shrinkage,
                    self._levels.maps(child),
                )
            )
        return found

    @property
    def parents_(self) -> dict[str, tuple[Parent, ...]]:
        """The parents of each column as its table uses them, some of them in groups.

        Examples
        --------
        >>> from understudy import load
        >>> survey = load("cmc").select("age", "children")
        >>> BayesNet().fit(survey).parents_
        {'age': (), 'children': (('age', 4), 'age')}
        """
        self._require_fit()
        return self._levels.plain

    def edge_information(self) -> list[tuple[str, str, float]]:
        """Return every edge (parent, child) with what the parent alone says, in bits.

        Examples
        --------
        >>> from understudy import load
        >>> survey = load("cmc").select("age", "children")
        >>> model = BayesNet(structure=[("age", "children")]).fit(survey)
        >>> [(parent, child, round(bits, 3)) for parent, child, bits in model.edge_information()]
        [('age', 'children', 0.395)]
        """
        self.require_single()
        places = {name: place for place, name in enumerate(self.codec_.names)}
        return [
            (parent, child, float(self.information_[places[parent], places[child]]))
            for parent, child in self.network_.edges
        ]

    @property
    def columns_of_network(self) -> tuple[str, ...]:
        """The columns of the network; of those that are given, those that others depend on."""
        used = {name for edge in self.network_.edges for name in edge}
        return tuple(name for name in self.network_.names if self._draws(name) or name in used)

    def residual_paths(self) -> dict[str, list[tuple[str, ...]]]:
        """Return how each protected column is still linked to others: shortest paths, by column.

        A protected column depends on its target, so it is linked to whatever the target is linked
        to, though not beyond what the target tells: given the target it is independent of all.

        Examples
        --------
        >>> from understudy import load
        >>> survey = load("cmc").select("age", "husband_education", "method")
        >>> model = BayesNet(parents=1, protect={"husband_education": "method"}).fit(survey)
        >>> model.residual_paths()
        {'husband_education': [('husband_education', 'method'),
                               ('husband_education', 'method', 'age')]}
        """
        self.require_single()
        return residual_paths(self.network_, read_protect(self.protect or {}, self.codec_.names))

    def separations(self) -> list[str]:
        """Return what `protect_from` comes to, in words: a sentence for each sensitive column."""
        return separation_in_words(read_separation(self.protect_from, self.codec_.names))

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        if self.preset is None:
            del params["preset"]
        if self.protect_from is None:
            del params["protect_from"]
        if not len(self.keep):
            del params["keep"]
        if isinstance(self.structure, Mapping):
            params["structure"] = {
                name: [list(one) if isinstance(one, tuple) else one for one in own]
                for name, own in self.structure.items()
            }
        elif not isinstance(self.structure, str):
            network = read_graph(self.structure, self.codec_.names)
            params["structure"] = [list(edge) for edge in network.edges]
        return params

    def _description(self) -> dict[str, Any]:
        plain = super()._description()
        return plain if self._kept is None else plain | {"kept": self._kept.to_plain()}

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return super()._learnt() | ({} if self._kept is None else self._kept.to_arrays())

    def _take_back(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        if self._kept_names:
            self._kept = Kept.restore(header["kept"], arrays, self.n_rows_)
        super()._take_back(header, arrays)

    def _state(self) -> dict[str, NDArray[Any]]:
        places = {name: place for place, name in enumerate(self.codec_.names)}
        parents = np.full((len(places), self.network_.degree), -1, np.int32)
        for row, found in enumerate(self.network_.parents.values()):
            parents[row, : len(found)] = [places[name] for name in found]
        state: dict[str, NDArray[Any]] = {
            "order": np.array([places[name] for name in self.network_.names], np.int32),
            "parents": parents,
            "information": self.information_,
        }
        if self._levels.groups:
            state |= self._levels.to_arrays()
        if self.history_ is not None:
            state |= {"history_best": self.history_.best, "history_mean": self.history_.mean}
        if self.bound_ is not None:
            state["bound"] = np.array([self.bound_])
        for name, table in self.tables_.items():
            for part, array in table.to_arrays().items():
                state[f"table_{places[name]}_{part}"] = array
            if table.shrinkage is not None:
                own = table if isinstance(table, SteppedTable) else table.shrinkage
                state[f"table_{places[name]}_strengths"] = own.strengths
                state["min_count"] = np.array([table.shrinkage.min_count])
        if self.positions_ is not None:
            state |= self.positions_.to_arrays(places)
        return state

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        names, sizes = self.codec_.names, self.codec_.cardinalities
        order = arrays["order"].tolist()
        if sorted(order) != list(range(len(names))) or len(arrays["parents"]) != len(names):
            raise ValueError("an order or parents of other columns")
        self.network_ = Network(
            {
                names[child]: tuple(names[parent] for parent in row if parent >= 0)
                for child, row in zip(order, arrays["parents"].tolist(), strict=True)
            }
        )
        self._set_levels(read_level_arrays(arrays, self.network_.names, names))
        self.information_ = arrays["information"]
        if self.information_.shape != (len(names), len(names)):
            raise ValueError("information of other columns")
        best = arrays.get("history_best")
        self.history_ = None if best is None else SearchHistory(best, arrays["history_mean"])
        self.bound_ = float(arrays["bound"][0]) if "bound" in arrays else None
        cardinality = dict(zip(names, sizes, strict=True))
        self.tables_ = {}
        for name in self.network_.names:
            if not self._draws(name):
                continue
            prefix = f"table_{names.index(name)}_"
            parts = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
            own = self._levels.sizes_of(name)
            if self.has_noise:
                self.tables_[name] = NoisyTable.from_arrays(parts, cardinality[name], own)
                continue
            table = ConditionalTable.from_arrays(parts, cardinality[name], own, self.n_rows_)
            self.tables_[name] = table
            if "strengths" in parts:
                strengths, least = parts["strengths"], int(arrays["min_count"][0])
                self.tables_[name] = (
                    table.shrunk(strengths, least)
                    if strengths.ndim == 1
                    else SteppedTable.of(table, self._steps_of(name), least, strengths)
                )
        alone = not (self.has_noise or self._given or self._changes or self._kept_names)
        if alone and all(
            coder.spread is not None
            for coder in self.codec_.coders.values()
            if isinstance(coder, BinCoder)
        ):
            self.positions_ = self._number_columns().linked(arrays, names)

    def _cells(self) -> list[NDArray[np.int64]]:
        return [table.cell_counts() for table in self._counted_tables.values()]


@dataclass(frozen=True, eq=False)
class SearchHistory:
    """How a genetic search went: best and mean fitness of each generation, in bits."""

    best: NDArray[np.float64]
    mean: NDArray[np.float64]


def _count_levels(batch: Coded, names: Sequence[str], levels: Levels) -> TableSet:
    """Count the tables of some columns in a batch."""
    found = []
    for name in names:
        coded, child, parents = levels.columns(name, batch)
        found.append(joint_counts(coded, (*parents, child)))
    return TableSet(tuple(found))
