"""The strong attacker against any synthesizer, by simulating what it does in each world."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.data.coded import Coded
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import Levels, code_together
from understudy.progress import track
from understudy.risk.black_box.arguments import (
    Settings,
    attacked_records,
    cell_columns,
    checked_groups,
    column_names,
    refuse_others,
    run_seeds,
    whole_number,
)
from understudy.risk.black_box.beliefs import (
    TIE,
    beliefs_after,
    beliefs_before,
    best_guess,
    marginal_beliefs,
    monte_carlo_error,
    others_with,
)
from understudy.risk.black_box.candidates import Candidates, find_candidates
from understudy.risk.black_box.cells import Cells
from understudy.risk.black_box.command import Command
from understudy.risk.black_box.likelihood import Likelihood, SimulatedLikelihood
from understudy.risk.black_box.simulator import Simulator, Synthesize
from understudy.risk.black_box.store import SimulationStore
from understudy.risk.black_box.wording import (
    counted,
    notes_on,
    reasons_for,
    tell_of_interruption,
    warn_of_thin_cells,
)
from understudy.risk.black_box.worlds import Worlds, WorldTables, plan_worlds
from understudy.risk.posterior.candidates import WHOLE
from understudy.risk.posterior.result import StrongAttack
from understudy.synthesis.blocks import RandomState


def black_box_attacker(  # noqa: PLR0913  # the attack, its simulation, and its resources
    synthesize: Synthesize | Command | str,
    original: Frame,
    synthetic: Frame,
    *,
    unknown: str | Sequence[str] = "*",
    records: Sequence[int] | ArrayLike | None = None,
    prior: str | ArrayLike = "uniform",
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
    original, synthetic : frame
        The confidential table, and the release.
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
    wanted = column_names("unknown", unknown)
    if unknown == WHOLE and WHOLE not in columns:
        wanted = columns
    groups = checked_groups(groups, columns)
    settings = Settings(
        Command(synthesize) if isinstance(synthesize, str) else synthesize,
        runs,
        smoothing,
        processes,
        run_seeds(random_state, whole_number("runs", runs)),
    )
    cell_names, withheld = cell_columns(cells, columns, to_narwhals(synthetic).columns)
    refuse_others("unknown", wanted, columns)
    exact = code_together({"original": original}, columns)
    found = Cells(original, synthetic, cell_names, groups)
    warn_of_thin_cells(found)
    options = find_candidates(original, synthetic, wanted, groups=groups, given=candidates)
    attacked = attacked_records(records, len(exact["original"]), options)
    worlds = plan_worlds(exact["original"], attacked, options)
    truth = options.truth[attacked]
    prior_name, before = beliefs_before(prior, options, truth)
    simulator = Simulator(
        settings.synthesize, worlds, WorldTables(original, worlds, options), found, settings.seeds
    )
    store = None
    if resume is not None:
        named = _fingerprint(exact["original"], exact.levels, found, worlds, options, settings)
        store = SimulationStore(resume, named, worlds=len(worlds), cells=found.count)
    likelihood = _simulated(simulator, found, settings, store)
    after = beliefs_after(before, likelihood.logs[worlds.of])
    rows = np.arange(len(attacked))
    true_after = after[rows, truth]
    others = others_with(options, truth)
    guess = best_guess(after, others)
    marginals, labels = marginal_beliefs(after, options)
    several = len(wanted) > 1
    more: dict[str, NDArray[Any]] = {
        "mc_error": monte_carlo_error(before, truth, worlds.of, likelihood)
    }
    if several:
        more["rank"] = 1 + (after > true_after[:, None] * (1 + TIE)).sum(axis=1)
    names = options.labels
    return StrongAttack(
        unknown=wanted,
        mode="black box",
        prior_name=prior_name,
        record=attacked,
        prior=before[rows, truth],
        posterior=true_after,
        guess=tuple(names[place] for place in guess.tolist()),
        right_before=best_guess(before, others) == truth,
        right_after=guess == truth,
        candidates=np.full(len(attacked), len(options), np.int64),
        more=more,
        marginals=marginals if several else {},
        labels=labels if several else {wanted[0]: names},
        reasons=reasons_for(settings.runs, before[rows, truth]),
        notes=(*options.notes, *notes_on(likelihood, settings.runs, found, withheld)),
    )


def _simulated(
    simulator: Simulator, cells: Cells, settings: Settings, store: SimulationStore | None
) -> Likelihood:
    """Run what the store does not have, and return the log likelihoods."""
    worlds = len(simulator.worlds)
    collected = SimulatedLikelihood(cells, worlds, int(settings.runs), float(settings.smoothing))
    for finished in store.finished() if store else ():
        collected.add(*finished)
    missing = collected.missing()
    # Closed explicitly, so that an interruption ends what is running at once.
    results = closing(simulator.all(missing, int(settings.processes)))
    try:
        with store or nullcontext(), results as simulations:
            doing = f"Simulating {counted(worlds, 'world')}"
            for finished in track(simulations, doing, len(missing)):
                if store:
                    store.add(*finished)
                collected.add(*finished)
    except KeyboardInterrupt:
        if store:
            tell_of_interruption(store.kept, store.path)
        raise
    return collected.result()


def _fingerprint(
    exact: Coded,
    levels: Mapping[str, Levels],
    cells: Cells,
    worlds: Worlds,
    candidates: Candidates,
    settings: Settings,
) -> str:
    """Return a hash of all that the simulated counts depend on, functions apart."""
    digest = hashlib.sha256()

    def take(*parts: object) -> None:
        for part in parts:
            content = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
            digest.update(len(content).to_bytes(8, "big") + content)

    take(exact.names, settings.seeds[0])
    take(settings.synthesize.text if isinstance(settings.synthesize, Command) else "function")
    for name, column in zip(exact.names, exact.columns, strict=True):
        take(levels[name].labels, levels[name].missing, column)
    take(cells.codes.names, cells.labels, *cells.codes.columns)
    take(cells.released.cells, cells.released.counts)
    take(worlds.row, worlds.candidate, candidates.unknown, candidates.labels)
    take([candidates.values[name].to_pylist() for name in candidates.unknown])
    return digest.hexdigest()
