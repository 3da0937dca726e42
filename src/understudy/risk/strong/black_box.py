"""The attack on a release of any tool, by simulating what the tool does in each world."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_whole, is_number
from understudy.data.coded import Coded
from understudy.data.frames import Frame, Layout, to_narwhals
from understudy.data.joint_coding import Levels, code_together
from understudy.errors import DataError, ParameterError
from understudy.progress import track
from understudy.risk.compared_tables import listed_releases
from understudy.risk.strong.beliefs import Listed, Prior, Question, normalised, prior_name
from understudy.risk.strong.candidates import (
    WHOLE,
    CandidateValues,
    check_records,
    find_candidates,
    read_columns,
    read_unknown,
)
from understudy.risk.strong.command import Command
from understudy.risk.strong.release import numbered
from understudy.risk.strong.result import StrongAttack
from understudy.risk.strong.simulated import Likelihood, SimulatedLikelihood, SimulationStore
from understudy.risk.strong.simulator import (
    Cells,
    Simulation,
    Simulator,
    Synthesize,
    Worlds,
    first_cells,
    plan_worlds,
)
from understudy.synthesis.blocks import RandomState, seed_of
from understudy.wording import counted, quoted

ROWS_PER_CELL = 5
"""With fewer rows of the release in a cell than this, shares of cells are a coarse estimate."""

_LOG = logging.getLogger("understudy")


def black_box_attacker(  # noqa: PLR0913  # the attack, its simulation, and its resources
    synthesize: Synthesize | Command | str,
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    unknown: str | Sequence[str] = WHOLE,
    records: Sequence[int] | ArrayLike | None = None,
    prior: Prior = "uniform",
    cells: str | Sequence[str] | None = None,
    candidates: Sequence[Any] | NDArray[Any] | None = None,
    groups: Mapping[str, int] | None = None,
    runs: int = 100,
    smoothing: float = 0.5,
    random_state: RandomState = 0,
    resume: str | Path | None = None,
    processes: int = 1,
) -> StrongAttack:
    """Attack a release of any synthesizer: learn a record from it, knowing all others.

    For each candidate of a record's unknown attributes, the synthesizer is run many times on the
    original with that candidate in place. The share of the simulated rows in each cell tells how
    likely the release is, and Bayes' rule how probable the candidate. Records that agree share
    their simulations.

    Parameters
    ----------
    synthesize : callable, Command or str
        A function of a frame, like `original`, and a seed, that returns a synthetic frame; or a
        command line, such as ``"Rscript synth.R {original} {synthetic} {seed}"`` (see `Command`).
    original : frame
        The confidential table.
    synthetic : frame or list of frames
        The release, or several, each from a run of its own: their log likelihoods add up. Those of
        a list may lack some of the columns that the synthesizer makes.
    unknown : str or sequence of str
        The attributes that the attacker does not know; ``"*"`` for the whole record.
    records : sequence of int, optional
        Row numbers of the original, from 0, or True for each row to attack; all if not given.
    prior : {"uniform", "marginal"} or array
        What the attacker believes before: the same of each candidate, its share among the other
        records, or weights in the order of the candidates (a row of them, or one for each record).
    cells : str or sequence of str, optional
        The columns whose combinations are counted; all that both tables have if not given.
    candidates : sequence, optional
        Values of the unknown attribute, or tuples of values. If not given: the values in the
        original, in order; for several attributes the combinations in either table.
    groups : mapping, optional
        Numeric columns to put into so many groups of about the same number of records. The
        candidates of an unknown one are the middle numbers of its groups, and so is the true one.
    runs : int
        Simulations of each world.
    smoothing : float
        What is added to the count of each cell.
    random_state : int, numpy Generator or None
        Decides the seeds of the runs, which are the same in every world.
    resume : path, optional
        A file that keeps what is finished. With it, an interrupted attack goes on where it
        stopped; more runs, another prior or smoothing use it too. It cannot tell one function
        from another, nor notice that the script behind a command line has changed: give each its
        own file. It holds the counts of many syntheses of the true table, and is as confidential
        as these would be.
    processes : int
        Simulations that run at the same time, in threads.

    Returns
    -------
    StrongAttack
        With `mc_error`, the standard error of each posterior that comes from simulating.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    DataError
        If the synthesizer fails or returns another table, or the file of `resume` does not fit.

    Notes
    -----
    Rows of a synthesis are taken as independent draws from the shares of the cells, and these as
    the same in every run, as with a fit that a seed does not change. Whether they are is tested:
    the dispersion is Pearson's chi-square of the runs' counts against the pooled shares over its
    degrees of freedom, over all worlds; cells with fewer than 5 rows expected in a run, and all
    that the release lacks, are merged. If chance alone gives a dispersion as large less than once
    in 1,000 times, the fit counts as random, as with noise for privacy, a bootstrap or a network.
    The likelihood of a release is then a mean over fits, for which a Dirichlet-multinomial stands,
    with the pooled shares as its mean and a concentration that gives this dispersion. It is an
    approximation: the shares of fits may be spread in another way, or more in some cells than in
    others. A single run, or few rows, cannot show that a fit is random.

    A cell that no simulation of a world reached is not impossible there, but has the smoothing as
    its count. A record that alone fills a cell can therefore shift the odds of its world by a
    factor of about runs / smoothing at most for each of its rows in the release: certainty shows
    only with many runs. The standard error does not include this.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"x": ["a"] * 10 + ["b"] * 10})
    >>> attack = black_box_attacker(lambda frame, seed: frame, table, table, runs=1, records=[0])
    >>> attack.mode, attack.guess
    ('black box', ('a',))
    """
    columns = tuple(to_narwhals(original).columns)
    names = _named_once("unknown", read_unknown(unknown, columns))
    groups = _checked_groups(groups, columns)
    tool = Command(synthesize) if isinstance(synthesize, str) else synthesize
    if not callable(tool):
        raise ParameterError(
            f"synthesize must be a function of a frame and a seed, or a command line; got {tool!r}."
        )
    check_whole("runs", runs, 1)
    check_whole("processes", processes, 1)
    _check_smoothing(smoothing)
    believed = _prior_name(prior)
    releases = listed_releases(synthetic)
    found, withheld = _cells_of(original, releases, cells, groups)
    coded = code_together({"original": original}, columns)
    table = coded["original"]
    _warn_of_thin_cells(found)
    options = find_candidates(original, releases, names, groups=groups, given=candidates)
    attacked = check_records(records, len(table))
    _check_truth(attacked, options)
    question = Question(
        names, options.labels, attacked, prior, believed, Layout.of(original).backend
    )
    listed = Listed(question, options.candidates, options.truth)
    log_prior = listed.log_prior(attacked, slice(None))
    worlds = plan_worlds(table, attacked, options)
    seeds = _run_seeds(random_state, runs)
    simulator = Simulator(tool, original, options.values, worlds, found, seeds)
    store = None
    if resume is not None:
        known = _fingerprint(table, coded.levels, simulator, options)
        count = sum(own.count for own in found)
        store = SimulationStore(resume, known, worlds=len(worlds), cells=count)
    collected = [
        SimulatedLikelihood(own, len(worlds), int(runs), float(smoothing)) for own in found
    ]
    likelihood = _simulate(simulator, collected, store, int(processes))
    beliefs = listed.beliefs(attacked, log_prior, _of_candidates(likelihood.logs, listed, worlds))
    error = _monte_carlo_error(listed, log_prior, worlds, likelihood)
    more: dict[str, NDArray[Any]] = {"mc_error": error}
    if beliefs.marginals:
        more["rank"] = beliefs.rank.astype(np.int64)  # no world is impossible
    reasons = {"mc_error": "a single run does not show how much runs differ"} if runs < 2 else {}
    notes = (*options.notes, *_notes(likelihood, runs, found, withheld))
    return listed.answer("black box", beliefs, more=more, reasons=reasons, notes=notes)


def _named_once(argument: str, names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ParameterError(f"{argument} names a column twice: {quoted(names)}.")
    return names


def _checked_groups(groups: object, columns: Sequence[str]) -> dict[str, int]:
    """Return which columns are put in how many groups."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise ParameterError(f"groups must be a mapping, such as {{'age': 5}}; got {groups!r}.")
    if groups:
        read_columns("groups", groups, columns)
    return dict(groups)


def _check_smoothing(smoothing: float) -> None:
    if not (is_number(smoothing) and 0 < smoothing < math.inf):
        raise ParameterError(
            f"smoothing must be a number above 0; got {smoothing!r}. Without it, a cell that the "
            "simulations happen to miss would be impossible."
        )


def _prior_name(prior: object) -> str:
    if isinstance(prior, str) and prior == "informed":
        raise ParameterError(
            "The informed prior comes from a fitted model, which a black box does not show. Give "
            "an array of weights instead, a row for each record."
        )
    return prior_name(prior, ("uniform", "marginal"))


def _cells_of(
    original: Frame, releases: Sequence[Frame], cells: object, groups: Mapping[str, int]
) -> tuple[list[Cells], tuple[str, ...]]:
    """Return the cells of each release, and the columns of the original that some release lacks."""
    columns = tuple(to_narwhals(original).columns)
    shown = [to_narwhals(release).columns for release in releases]
    every = set().union(*shown)
    found = []
    for number, (release, own) in enumerate(zip(releases, shown, strict=True)):
        with numbered(number, len(releases)):
            names = _cell_columns(cells, columns, own)
            found.append(Cells(original, release, names, groups, every))
    lacking = (name for name in columns if any(name not in own for own in shown))
    return found, tuple(lacking)


def _cell_columns(
    cells: object, columns: Sequence[str], released: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that make up a cell."""
    if cells is not None:
        return _named_once("cells", read_columns("cells", cells, columns))
    shared = tuple(name for name in columns if name in released)
    if not shared:
        raise DataError("The original and the synthetic table have no column in common.")
    return shared


def _check_truth(records: NDArray[np.int64], options: CandidateValues) -> None:
    """Raise if the truth of a record is no candidate."""
    lost = records[options.truth[records] < 0]
    if len(lost):
        others = f" (and {counted(len(lost) - 1, 'other')})" if len(lost) > 1 else ""
        raise ParameterError(
            f"candidates: the true values of record {lost[0]}{others} are not among them. Add "
            "them, or leave such records out (records=)."
        )


def _run_seeds(random_state: RandomState, runs: int) -> tuple[int, ...]:
    """Return a seed for each run, all different, that any program can take.

    More runs begin with the same seeds.
    """
    rng = np.random.default_rng(seed_of(random_state))
    seeds: dict[int, None] = {}
    while len(seeds) < runs:
        seeds[int(rng.integers(2**31))] = None
    return tuple(seeds)


def _simulate(
    simulator: Simulator,
    collected: Sequence[SimulatedLikelihood],
    store: SimulationStore | None,
    processes: int,
) -> Likelihood:
    """Run what the store does not have, and return the log likelihoods."""
    starts = first_cells(simulator.cells)

    def add(finished: Simulation) -> None:
        for own, start in zip(collected, starts, strict=True):
            own.add(*finished, first=start)

    for finished in store.finished() if store else ():
        add(finished)
    missing = collected[0].missing()
    # Closed explicitly, so that an interruption ends what is running at once.
    results = closing(simulator.all(missing, processes))
    try:
        with store or nullcontext(), results as simulations:
            doing = f"Simulating {counted(len(simulator.worlds), 'world')}"
            for finished in track(simulations, doing, len(missing)):
                if store:
                    store.add(*finished)
                add(finished)
    except KeyboardInterrupt:
        if store:
            kept = f"{counted(store.kept, 'simulation')} {'is' if store.kept == 1 else 'are'} kept"
            _LOG.warning(
                "Interrupted: %s in %s. The same call goes on from there.", kept, store.path
            )
        raise
    return Likelihood.product([own.result() for own in collected])


def _of_candidates(
    logs: NDArray[np.float64], listed: Listed, worlds: Worlds
) -> NDArray[np.float64]:
    """Return the log likelihood of each record's candidates; that of the truth is 0.

    So a release that is as likely in every world tells nothing, not a rounding error's worth.
    """
    found = logs[worlds.of]
    truth = listed.truth[listed.question.rows]
    return np.asarray(found - found[np.arange(len(found)), truth][:, None])


def _monte_carlo_error(
    listed: Listed, log_prior: NDArray[np.float64], worlds: Worlds, likelihood: Likelihood
) -> NDArray[np.float64]:
    """Return the standard error of the truth's posterior, by leaving out each run in turn.

    A run is left out of all worlds at once: it has the same seed in all of them, so that much of
    its chance cancels. The error of a single run is nan.
    """
    runs = likelihood.without.shape[1]
    truth = listed.truth[listed.question.rows]
    if not runs:
        return np.full(len(truth), np.nan)
    found = np.empty((runs, len(truth)))
    for run in range(runs):
        after = normalised(log_prior + _of_candidates(likelihood.without[:, run], listed, worlds))
        found[run] = np.exp(after[np.arange(len(truth)), truth])
    # From the first one: the mean of equal numbers may differ from them in the last digit.
    apart = found - found[0]
    squares = ((apart - apart.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt((runs - 1) / runs * squares))


def _warn_of_thin_cells(cells: Sequence[Cells]) -> None:
    """Warn if the release has few rows in its cells."""
    occupied = sum(len(own.released.cells) for own in cells)
    rows = sum(int(own.released.counts.sum()) for own in cells)
    if occupied * ROWS_PER_CELL > rows:
        _LOG.warning(
            "The synthetic table has %s in %s. With so few in each, the estimated likelihood is "
            "coarse; choose fewer columns (cells=), or groups.",
            counted(rows, "row"),
            counted(occupied, "cell"),
        )


def _notes(
    likelihood: Likelihood, runs: int, cells: Sequence[Cells], withheld: Sequence[str]
) -> tuple[str, ...]:
    """Return what a reader of the result should know of its simulations."""
    worlds = len(likelihood.logs)
    each = "one world" if worlds == 1 else f"each of {worlds:,} worlds"
    notes = [
        f"{counted(runs, 'simulation')} of {each}; the likelihood rests on "
        f"{counted(cells[0].count, 'cell')}."
        if len(cells) == 1
        else f"{counted(runs, 'simulation')} of {each}; the likelihood of {len(cells)} releases "
        f"rests on {' and '.join(f'{own.count:,}' for own in cells)} cells."
    ]
    dispersion = likelihood.dispersion
    if math.isfinite(dispersion.concentration):
        notes.append(
            f"Runs of one world differ {dispersion.factor:.3g} times as much as by chance alone, "
            "so the fit itself is random. The likelihood allows for that by a "
            "Dirichlet-multinomial, which is an approximation."
        )
    elif runs < 2:
        notes.append("A single run does not show whether the fit is random; it is taken as fixed.")
    short = int(np.count_nonzero(likelihood.unreached))
    if short:
        notes.append(
            f"In {short:,} of {counted(worlds, 'world')} no simulation reached some cell of the "
            "release. Its probability there is the smoothing only, so a certain disclosure can "
            "show far below 1."
        )
    if withheld:
        notes.append(f"Not in the synthetic table: {quoted(withheld)}.")
    return tuple(notes)


def _fingerprint(
    original: Coded, levels: Mapping[str, Levels], simulator: Simulator, options: CandidateValues
) -> str:
    """Return a hash of all that the simulated counts depend on, functions apart."""
    digest = hashlib.sha256()

    def take(*parts: object) -> None:
        for part in parts:
            content = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
            digest.update(len(content).to_bytes(8, "big") + content)

    tool, cells, worlds = simulator.synthesize, simulator.cells, simulator.worlds
    candidates, names = options.candidates, options.candidates.names
    take(original.names, simulator.seeds[0])
    take(tool.text if isinstance(tool, Command) else "function")
    for name, column in zip(original.names, original.columns, strict=True):
        take(levels[name].labels, levels[name].missing, column)
    for own in cells:
        take(own.codes.names, own.labels, *own.codes.columns)
        take(own.released.cells, own.released.counts)
    every = candidates.labels(options.labels, np.arange(len(candidates)))
    take(worlds.row, worlds.candidate, names, tuple(every))
    take([options.values[name].to_pylist() for name in names])
    return digest.hexdigest()
