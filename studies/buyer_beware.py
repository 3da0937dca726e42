"""The record that CART gives away, in the simulated data of the paper on CART.

``python -m studies figure 2 -o figure-2.svg`` draws a figure of the paper, ``... unique-record``
counts how often the unique record comes back, and ``... sixteen-worlds`` prints what the strong
attacker makes of the paper's syntheses, and what protects against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from studies.reproduction.printed import printed_tables
from understudy.arguments import check_whole
from understudy.data import Coded, load, load_syntheses
from understudy.progress import quietly, track
from understudy.risk import StrongAttack, disclosure, strong_attacker
from understudy.synthesis import Cart
from understudy.wording import markdown_table
from understudy.worlds.releases import CELLS, RECORD, UNIQUE, VARIABLES, cell_counts

FOOTNOTE = tuple(int(cell.mean) for cell in printed_tables()["cart-footnote4"].rows["syntheses"])
"""In how many of the paper's 100 syntheses there are 0, 1, 2 and 3 copies of it (its footnote)."""
_LEAST_EXPECTED = 5


def synthesize(
    copies: int = 10, *, minbucket: int = 5, cp: float = 1e-8, random_state: int = 0
) -> NDArray[np.int64]:
    """Return the counts of the combinations in syntheses by CART, one row for each."""
    model = Cart(minbucket, cp, smoothing_leaves=0, random_state=random_state).fit(
        load("buyer_beware")
    )
    tables = model.sample(copies=copies)
    return np.array([cell_counts(table) for table in (tables if copies > 1 else [tables])])


@dataclass(frozen=True)
class UniqueCopies:
    """How often the unique record came back in syntheses, and how often the model says it does.

    Attributes
    ----------
    copies : ndarray
        The number of its copies in each synthesis.
    probability : float
        The probability that a synthetic record is one, from the density of the fitted model.
    rows : int
        Records of a synthesis. They are drawn independently, so the number of copies follows the
        binomial distribution of `rows` and `probability`.
    """

    copies: NDArray[np.int64]
    probability: float
    rows: int

    @property
    def observed(self) -> NDArray[np.int64]:
        """In how many syntheses there are 0, 1, 2, and 3 or more copies."""
        return np.bincount(np.minimum(self.copies, 3), minlength=4)

    @property
    def expected(self) -> NDArray[np.float64]:
        """The probabilities of 0, 1, 2, and 3 or more copies."""
        from scipy.stats import binom

        few = binom.pmf([0, 1, 2], self.rows, self.probability)
        return np.append(few, binom.sf(2, self.rows, self.probability))

    def p_value(self, observed: Sequence[int] | NDArray[np.int64] | None = None) -> float:
        """Return the p-value of a chi-square test that counts of syntheses follow the model.

        Parameters
        ----------
        observed : sequence of int, optional
            In how many syntheses there are 0, 1, 2, and 3 or more copies; our own by default.

        Returns
        -------
        float
            NaN if there are too few syntheses, or too few of more than one kind, for the test.
            Kinds of which fewer than 5 are expected are put together with the next.
        """
        from scipy.stats import chisquare

        counts = np.asarray(self.observed if observed is None else observed)
        pooled = _pooled(counts, self.expected * counts.sum())
        if len(pooled) < 2:
            return float("nan")
        return float(chisquare(pooled[:, 0], pooled[:, 1]).pvalue)

    def to_markdown(self) -> str:
        """Return a line for each number of copies, with the paper's footnote as a last column."""
        shares = self.observed / len(self.copies)
        lines = [
            [name, f"{share:.1%}", f"{expected:.1%}", f"{paper:.0%}"]
            for name, share, expected, paper in zip(
                ("0", "1", "2", "3 or more"),
                shares,
                self.expected,
                np.array(FOOTNOTE) / sum(FOOTNOTE),
                strict=True,
            )
        ]
        mean = f"{self.rows * self.probability:.2f}"
        lines += [
            ["mean", f"{self.copies.mean():.2f}", mean, ""],
            ["p-value", _decimals(self.p_value()), "", _decimals(self.p_value(FOOTNOTE))],
        ]
        heading = [f"copies of {UNIQUE}", f"{len(self.copies):,} syntheses", "model", "paper, 100"]
        return markdown_table(heading, lines)


def _decimals(p_value: float) -> str:
    return "" if np.isnan(p_value) else f"{p_value:.2f}"


def _pooled(observed: NDArray[np.int64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return pairs of counts, adding up neighbours until at least five are expected in each."""
    pairs = [np.zeros(2)]
    for pair in np.column_stack([observed, expected]):
        if pairs[-1][1] >= _LEAST_EXPECTED:
            pairs.append(np.zeros(2))
        pairs[-1] += pair
    if len(pairs) > 1 and pairs[-1][1] < _LEAST_EXPECTED:
        last = pairs.pop()
        pairs[-1] += last
    return np.array(pairs)


def unique_copies(
    syntheses: int = 1000, *, minbucket: int = 5, cp: float = 1e-8, random_state: int = 0
) -> UniqueCopies:
    """Return how many copies of the unique record so many syntheses hold.

    Parameters
    ----------
    syntheses : int
        Tables to draw, each of as many records as the original has.
    minbucket, cp
        Of `Cart`; the defaults are those of synthpop and of the paper.
    random_state : int
        Decides the draws.

    Notes
    -----
    The record is the last of 67 in the leaf of (1, 1, 1), so that a synthetic record which gets
    there has the fourth 1 with probability 1/67. With the probability of getting there, about one
    copy is expected among 1,000.

    References
    ----------
    .. [1] Latner, J., Neunhoeffer, M., Drechsler, J. Buyer Beware: Understanding the trade-off
       between utility and risk in CART based models using simulation data, footnote 4.
    """
    check_whole("syntheses", syntheses, 1)
    original = load("buyer_beware")
    model = Cart(minbucket, cp, smoothing_leaves=0, random_state=random_state).fit(original)
    record = pl.DataFrame(
        {name: [int(value)] for name, value in zip(VARIABLES, UNIQUE, strict=True)}
    )
    sought = model.codec_.encode(record)
    rng = np.random.default_rng(random_state)
    copies = []
    for _ in track(range(syntheses), "Synthesizing"):
        drawn = model.sample_coded(random_state=rng)
        same = [mine == code for mine, code in zip(drawn.columns, sought.columns, strict=True)]
        copies.append(np.logical_and.reduce(same).sum())
    probability = float(np.exp(model.log_likelihood(sought)[0]))
    return UniqueCopies(np.array(copies), probability, len(original))


@dataclass(frozen=True, eq=False)
class Guesses:
    """What an attacker who knows all records but the last makes of a release.

    Attributes
    ----------
    released : ndarray
        The counts of the 16 combinations in the release.
    syntheses : ndarray
        The counts in syntheses, for each guess at the last record: guess, synthesis, combination.
    posterior : ndarray
        The probability of each guess after the release, if all are as likely before.
    """

    released: NDArray[np.int64]
    syntheses: NDArray[np.int64]
    posterior: NDArray[np.float64]


def guess_last_record(synthesis: int = 1, *, copies: int = 10, random_state: int = 0) -> Guesses:
    """Return what a release tells of the last record, with syntheses for each guess at it.

    Parameters
    ----------
    synthesis : int
        Which of the paper's ten syntheses is released, from 1.
    copies : int
        Syntheses to draw for each guess.
    random_state : int
        Decides these draws, not the posterior.

    Notes
    -----
    The attacker fits CART to the known records with each of the 16 combinations as the last one.
    The probability of a guess is in proportion to that of the release under its fit, which is
    exact: no synthesis needs to be drawn for it.

    Examples
    --------
    >>> guess_last_record(copies=1).posterior[-1]  # the release holds 1111, so it was there
    np.float64(1.0)
    """
    original = load("buyer_beware")
    model = Cart(smoothing_leaves=0, random_state=0).fit(original)
    coded = model.codec_.encode(original)
    release = load("buyer_beware", synthesis=synthesis)
    released = model.codec_.encode(release)
    likelihoods, syntheses = [], []
    rng = np.random.default_rng(random_state)
    for cell in track(CELLS, "Guessing"):
        guess = original[-1].with_columns(
            **{name: pl.lit(int(value)) for name, value in zip(VARIABLES, cell, strict=True)}
        )
        known = coded.take(slice(len(coded) - 1))
        with quietly():
            world = model.refit(Coded.concatenate([known, model.codec_.encode(guess)]))
        likelihoods.append(world.release_log_likelihood(released))
        drawn = [world.sample_coded(random_state=rng) for _ in range(copies)]
        syntheses.append([_coded_counts(table) for table in drawn])
    shares = np.exp(np.array(likelihoods) - max(likelihoods))
    return Guesses(cell_counts(release), np.array(syntheses), shares / shares.sum())


def _coded_counts(table: Coded) -> NDArray[np.int64]:
    number = np.ravel_multi_index(table.columns, table.cardinalities)
    return np.bincount(number, minlength=len(CELLS))


SETTINGS = ((5, 1e-8), (75, 1e-8), (5, 0.05))
"""minbucket and cp: the defaults, and the two that the paper found to protect."""


@dataclass(frozen=True, eq=False)
class Attacked:
    """One release, and what the strong attacker learns from it.

    Parameters
    ----------
    name : str
        Which release.
    copies : int
        Synthetic records with the values of the unique one.
    repu, disco : float
        Replicated uniques and correct attribute disclosures: shares of all records, with the first
        three variables as keys and the fourth as target.
    refit : StrongAttack
        The attack on the unique record, with CART fitted anew in each of the 16 worlds.
    fixed : StrongAttack
        The attack on all records, with the trees as published.
    """

    name: str
    copies: int
    repu: float
    disco: float
    refit: StrongAttack
    fixed: StrongAttack

    @classmethod
    def of(cls, name: str, model: Cart, release: pl.DataFrame) -> Attacked:
        """Attack a release; nothing is known of the record, and all 16 worlds are alike before."""
        original = load("buyer_beware")
        told = disclosure(original, release, keys=VARIABLES[:3], sensitive=VARIABLES[3])
        return cls(
            name,
            int(cell_counts(release)[CELLS.index(UNIQUE)]),
            told.repu,
            told.disco,
            strong_attacker(
                model, original, release, prior="uniform", mode="refit", records=[RECORD]
            ),
            strong_attacker(model, original, release, prior="uniform", mode="fixed"),
        )


def published_syntheses() -> list[Attacked]:
    """Attack the ten syntheses that the paper prints."""
    model = Cart(smoothing_leaves=0, random_state=0).fit(load("buyer_beware"))
    tables = load_syntheses("buyer_beware")
    return [
        Attacked.of(f"synthesis {number}", model, table)
        for number, table in enumerate(track(tables, "Attacking releases"), 1)
    ]


def attacked_markdown(attacked: Iterable[Attacked]) -> str:
    """Return a line for each release."""
    lines = [
        {
            "release": one.name,
            "copies": str(one.copies),
            "repU": f"{one.repu:.2%}",
            "DiSCO": f"{one.disco:.2%}",
            "posterior, refit": f"{one.refit.posterior[0]:.4f}",
            "posterior, fixed": f"{one.fixed.posterior[RECORD]:.4f}",
            "certain of 1,000": str(one.fixed.certain),
            "mean gain": f"{one.fixed.mean_gain:.3f} bits",
            "largest gain": f"{one.fixed.max_gain:.2f} bits",
        }
        for one in attacked
    ]
    return markdown_table(list(lines[0]), [list(line.values()) for line in lines])


@dataclass(frozen=True)
class Protection:
    """The posterior of the unique record over many releases with one setting of CART."""

    minbucket: int
    cp: float
    posteriors: tuple[float, ...]

    @property
    def certain(self) -> int:
        """Releases after which the record is certain."""
        return sum(posterior >= 1 - 1e-12 for posterior in self.posteriors)


def protections(releases: int = 100, random_state: int = 0) -> list[Protection]:
    """Attack many releases with each of the settings, in refit mode."""
    original = load("buyer_beware")
    found = []
    for minbucket, cp in SETTINGS:
        model = Cart(minbucket, cp, smoothing_leaves=0, random_state=random_state).fit(original)
        tables = model.sample(copies=releases)
        posteriors = [
            float(
                strong_attacker(
                    model, original, table, prior="uniform", mode="refit", records=[RECORD]
                ).posterior[0]
            )
            for table in track(tables, f"Attacking minbucket {minbucket}, cp {cp:g}")
        ]
        found.append(Protection(minbucket, cp, tuple(posteriors)))
    return found


def protections_markdown(found: Iterable[Protection]) -> str:
    """Return a line for each setting; the prior is one in 16."""
    lines = []
    for one in found:
        low, middle, high = np.quantile(one.posteriors, [0.05, 0.5, 0.95])
        lines.append(
            (
                str(one.minbucket),
                f"{one.cp:g}",
                f"{np.mean(one.posteriors):.4f}",
                f"{middle:.4f}",
                f"{low:.4f} to {high:.4f}",
                f"{one.certain} of {len(one.posteriors)}",
            )
        )
    heads = ("minbucket", "cp", "mean posterior", "median", "from 5% to 95%", "certain")
    return markdown_table(heads, lines)
