"""Audits a claim of differential privacy: tries to disprove it, exactly where it can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_whole
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.effort import COLUMNS, LEVELS, ROWS, Effort
from understudy.errors import ParameterError
from understudy.privacy.guarantee import Neighbours, check_delta, check_epsilon
from understudy.progress import quietly, track
from understudy.risk.privacy_audit.bounds import epsilon_of_losses
from understudy.risk.privacy_audit.domain import Domain
from understudy.risk.privacy_audit.fitted import Fitted, Loss
from understudy.risk.privacy_audit.noise_check import noise_problems
from understudy.risk.privacy_audit.preset import Preset
from understudy.risk.privacy_audit.result import PrivacyAudit, Tried, exceeds
from understudy.risk.privacy_audit.seen import Seen
from understudy.risk.privacy_audit.simulated import lower_bound
from understudy.risk.privacy_audit.transcript import Question
from understudy.risk.privacy_audit.worlds import KINDS, Pair, make_pairs
from understudy.risk.strong.command import Command
from understudy.risk.strong.simulator import Synthesize, run_in_threads
from understudy.synthesis import BayesNet, Independent, Synthesizer
from understudy.synthesis.private import PrivateSynthesizer

_MOST_HEARD = 400
"""Fits whose noise is tested."""


def audit_privacy(  # noqa: PLR0913  # the claim, the domain, and how long it may take
    tool: Synthesizer | Synthesize | Command | str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    neighbours: Neighbours | None = None,
    columns: int | None = None,
    levels: int | None = None,
    rows: int | None = None,
    released: int | None = None,
    effort: Effort | None = None,
    random_state: int = 0,
) -> PrivacyAudit:
    """Try to disprove that a tool keeps its epsilon.

    Pairs of neighbouring tables are made up, and releases of the one are looked at: how much more
    probable are they than from the other? If one exists that is more than exp(epsilon) times as
    probable, the claim is wrong, whatever else may be true.

    Parameters
    ----------
    tool : Synthesizer, callable, Command or str
        A private synthesizer, fitted or not: a fitted one is audited on its own domain, and needs
        no records. Or a function of a frame and a seed that returns a synthetic frame; or a command
        line, such as ``"Rscript synth.R {original} {synthetic} {seed}"`` (see `Command`).
    epsilon, delta, neighbours : optional
        What is claimed; a fitted model's ledger and a synthesizer's parameters say it.
    columns, levels : int, optional
        How many columns of how many values the made-up tables have: 3 and 2, unless a fitted model
        says.
    rows : int, optional
        Their records: as many as a fitted model was fitted to, or 20.
    released : int, optional
        Rows of a release of our own models: as many as its table has if not given.
    effort : Effort, optional
        How long it may take.
    random_state : int
        Decides the tables; never the noise of our models.

    Returns
    -------
    PrivacyAudit

    Examples
    --------
    >>> from understudy import Independent
    >>> found = audit_privacy(Independent(epsilon=1.0), effort=Effort(worlds=6, releases=2))
    >>> found.verdict, found.in_words()
    ('consistent', 'consistent, largest found .99 of 1')
    """
    effort = effort or Effort()
    if isinstance(tool, str):
        tool = Command(tool)
    own = tool if isinstance(tool, Synthesizer) else None
    if own is not None and not (isinstance(own, PrivateSynthesizer) and own.has_noise):
        raise ParameterError(f"{type(own).__name__} has no epsilon, so there is no claim to audit.")
    claim = _claim(own, epsilon, delta, neighbours)
    domain = _domain(own, columns, levels)
    size = rows
    if size is None:
        size = getattr(own, "n_rows_", ROWS)
    check_whole("rows", size, 2)
    if released is not None:
        check_whole("released", released, 1)
    task = _Task(domain, size, claim, effort, np.random.SeedSequence(random_state))
    if own is None:
        assert not isinstance(tool, Synthesizer)  # noqa: S101  # told apart above
        return task.simulate(tool, _name(tool))
    assert isinstance(own, PrivateSynthesizer)  # noqa: S101  # looked at above
    if isinstance(own, BayesNet) and not own.is_private:
        return task.exact(Preset(own, domain, released), _name(own), [])
    return task.exact(Fitted(own, domain, released), _name(own), _notes(own))


@dataclass(frozen=True)
class _Claim:
    epsilon: float
    delta: float
    neighbours: Neighbours


def _claim(
    own: Synthesizer | None,
    epsilon: float | None,
    delta: float | None,
    neighbours: Neighbours | None,
) -> _Claim:
    ledger = getattr(own, "ledger_", None)
    known: dict[str, Any] = {}
    if ledger is not None:
        promise = ledger.guarantee
        known = {
            "epsilon": promise.epsilon,
            "delta": promise.delta,
            "neighbours": promise.neighbours,
        }
    elif own is not None:
        known = {name: getattr(own, name, None) for name in ("epsilon", "delta", "neighbours")}
    claimed = known.get("epsilon") if epsilon is None else epsilon
    if claimed is None:
        raise ParameterError("epsilon must be given: the tool does not say what it claims.")
    given = known.get("delta") if delta is None else delta
    relation = neighbours or known.get("neighbours") or "change-one"
    check_choice("neighbours", relation, ("change-one", "add-remove"))
    return _Claim(
        float(check_epsilon(claimed)),
        float(check_delta(0 if given is None else given)),
        relation,
    )


def _domain(own: Synthesizer | None, columns: int | None, levels: int | None) -> Domain:
    if own is None or not hasattr(own, "codec_"):
        return Domain.small(columns or COLUMNS, levels or LEVELS)
    if columns is not None or levels is not None:
        raise ParameterError(
            "columns and levels cannot be given for a fitted model: it is audited on its own "
            "domain."
        )
    return Domain.of(own)


def _name(tool: object) -> str:
    if isinstance(tool, Synthesizer):
        return type(tool).__name__
    return tool.text if isinstance(tool, Command) else getattr(tool, "__name__", "the tool")


def _notes(own: PrivateSynthesizer) -> list[str]:
    found = []
    if own.spend_on_domain:
        found.append(
            "What it paid for levels and ranges is not audited: its domain counts as public here."
        )
    return found


@dataclass(frozen=True, eq=False)
class _Task:
    """An audit: what is claimed, on which domain, and with how much effort."""

    domain: Domain
    rows: int
    claim: _Claim
    effort: Effort
    seed: np.random.SeedSequence

    def _pairs(self, number: int) -> list[Pair]:
        rng = np.random.default_rng(self.seed)
        own = self.domain
        return list(make_pairs(own.names, own.sizes, self.rows, self.claim.neighbours, rng, number))

    def _seeds(self, number: int) -> list[int]:
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        return [int(seed) for seed in rng.integers(0, 2**31, number)]

    def _result(
        self,
        name: str,
        tried: Sequence[Tried],
        problems: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> PrivacyAudit:
        return PrivacyAudit(
            name,
            self.claim.epsilon,
            self.claim.delta,
            self.claim.neighbours,
            tuple(tried),
            self.effort.confidence,
            tuple(problems),
            tuple(notes),
        )

    def exact(self, audited: Fitted | Preset, name: str, notes: list[str]) -> PrivacyAudit:
        """Compute the likelihood ratios of releases in pairs of worlds."""
        pure = not self.claim.delta
        worlds, releases = self.effort.worlds, self.effort.releases
        if not pure:
            # A single release proves nothing, so that each pair needs many.
            worlds, releases = min(worlds, len(KINDS)), worlds * releases // min(worlds, len(KINDS))
        tried: list[Tried] = []
        heard: list[Sequence[Question]] = []
        pairs = self._pairs(worlds)
        seeds = iter(self._seeds(worlds * releases))
        for pair in track(pairs, "Comparing worlds"):
            losses = [audited.loss(pair, next(seeds)) for _ in range(releases)]
            error = (1 - self.effort.confidence) / worlds
            tried.append(self._tried(pair, losses, pure=pure, error=error))
            heard += [loss.questions for loss in losses][: _MOST_HEARD - len(heard)]
        problems = list(noise_problems(heard, np.random.default_rng(self.seed.spawn(1)[0])))
        rows_known = isinstance(audited, Preset) or isinstance(
            audited.synthesizer, BayesNet | Independent
        )
        if not rows_known and self.effort.runs:
            assert isinstance(audited, Fitted)  # noqa: S101  # the rows of a preset are known
            tried += self._simulated(_drawn_by(audited.synthesizer, self.domain))
        elif not rows_known:
            notes.append("The rows were not audited, but the noisy answers that they rest on.")
        return self._result(name, tried, problems, notes)

    def _tried(self, pair: Pair, losses: Sequence[Loss], *, pure: bool, error: float) -> Tried:
        drawn = np.array([loss.drawn for loss in losses])
        if not pure:
            # A release whose ratio is too large proves nothing by itself: delta allows some.
            signed = np.array([loss.model for loss in losses])
            bound = epsilon_of_losses(signed, delta=self.claim.delta, error=error)
            text = (
                f"Of {len(losses):,} releases, {np.count_nonzero(signed > self.claim.epsilon):,} "
                f"have a log ratio above epsilon; at delta {self.claim.delta:g} they prove an "
                f"epsilon of {bound:.4g}."
            )
            return Tried(pair.in_words(), "exact", bound, bound, math.nan, len(losses), text)
        largest = max(losses, key=lambda loss: loss.largest)
        proving = float(np.mean([exceeds(one, self.claim.epsilon) for one in drawn]))
        return Tried(
            pair.in_words(),
            "exact",
            largest.largest,
            float(drawn.max()),
            proving,
            len(losses),
            _evidence(largest),
        )

    def simulate(self, tool: Synthesize | Command, name: str) -> PrivacyAudit:
        """Run a tool many times in each of two worlds."""
        if not self.effort.runs:
            raise ParameterError("runs must be above 0: this tool can only be simulated.")

        def run(world: Coded, seed: int) -> Frame:
            return tool(self.domain.frame(world, 0), seed)

        notes = [
            "Only the rows are known of this tool, so that a bound is all that runs can give: with "
            f"{self.effort.runs:,} runs in each world it cannot exceed "
            f"{_most(self.effort, self.claim.delta):.3g}."
        ]
        return self._result(name, self._simulated(run, tool), notes=notes)

    def _simulated(self, run: Any, tool: Synthesize | Command | None = None) -> list[Tried]:  # noqa: ANN401
        effort = self.effort
        found = []
        for pair in self._pairs(effort.pairs):
            seen = Seen(self.domain)
            seeds = self._seeds(2 * effort.runs)
            jobs = [
                (world, seed)
                for number, seed in enumerate(seeds)
                for world in ((pair.one, pair.other)[number % 2],)
            ]

            def count(job: tuple[Coded, int], seen: Seen = seen) -> NDArray[np.float64]:
                return seen.features(run(*job))

            threads = effort.processes if isinstance(tool, Command) else 1
            features: dict[int, list[NDArray[np.float64]]] = {0: [], 1: []}

            def numbered(job: tuple[int, tuple[Coded, int]], count: Any = count) -> Any:  # noqa: ANN401
                return job[0], count(job[1])

            running = run_in_threads(numbered, enumerate(jobs), threads, tool or _nothing)
            with closing(running):
                for number, own in track(running, "Running in two worlds", total=len(jobs)):
                    features[number % 2].append(own)
            bound = lower_bound(
                np.array(features[0]),
                np.array(features[1]),
                seen.describe,
                delta=self.claim.delta,
                error=(1 - effort.confidence) / effort.pairs,
            )
            text = (
                f"In the runs kept back, {bound.event} in {bound.one:.1%} of one world and "
                f"{bound.other:.1%} of the other: epsilon is at least {bound.epsilon:.4g}, with "
                f"{effort.confidence:.0%} confidence."
            )
            found.append(
                Tried(
                    pair.in_words(),
                    "simulated",
                    bound.epsilon,
                    bound.epsilon,
                    math.nan,
                    2 * effort.runs,
                    text,
                )
            )
        return found


def _nothing(frame: Frame, seed: int) -> Frame:  # noqa: ARG001  # nothing to stop
    return frame


def _most(effort: Effort, delta: float) -> float:
    """Return the largest bound that so many runs can give."""
    from understudy.risk.privacy_audit.bounds import epsilon_of_event

    kept = effort.runs - effort.runs // 2
    error = (1 - effort.confidence) / effort.pairs
    return epsilon_of_event(kept, 0, kept, delta=delta, error=error)


def _drawn_by(own: PrivateSynthesizer, domain: Domain) -> Any:  # noqa: ANN401  # a function
    """Return what fits a synthesizer to a world, and draws rows."""

    def run(world: Coded, seed: int) -> Frame:
        made = {"random_state": seed, "spend_on_domain": 0}
        with quietly():
            model = type(own)(**(own.get_params() | made))
            model.fit(domain.frame(world, seed), domain.schema)
            return model.sample(len(world))

    return run


def _evidence(loss: Loss) -> str:
    if loss.why:
        return loss.why
    parts = {
        "the published noisy answers": loss.model,
        "the rows that were drawn": loss.rows,
        "a release that could be drawn": loss.crafted,
    }
    known = {name: abs(value) for name, value in parts.items() if not math.isnan(value)}
    name = max(known, key=lambda one: known[one])
    return f"The exact log ratio of {name} is {known[name]:.6g}."
