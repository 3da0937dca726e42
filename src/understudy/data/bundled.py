"""Tables without a file of the user: small ones that come with the package, and simulated ones."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import is_whole
from understudy.data.frames import Backend, Frame, to_backend
from understudy.errors import DataError, ParameterError, did_you_mean

AVAILABLE: Mapping[str, tuple[str, ...]] = {
    "load": ("cmc", "buyer_beware"),
    "simulate": ("credit_card",),
    "fetch": ("adult", "adult_train", "adult_test", "fertility", "sd2011", "credit_card"),
}
"""The names that each of `load`, `simulate` and `fetch` knows."""

_BUYER_BEWARE_SYNTHESES = 10

_REAL_ROWS = 284_807
_REAL_POSITIVES = 492
_LAST_SECOND = 172_792
_COMPONENTS = 28
_WIDEST, _NARROWEST = 1.96, 0.33
_DEGREES_OF_FREEDOM = 5
# In standard deviations. The signs and the components are those that tell frauds apart in the real
# data; the sizes are smaller, so that shifting them together leaves the components uncorrelated.
_SHIFT_OF_POSITIVES = {3: -2.0, 4: 2.0, 7: -1.5, 10: -2.5, 11: 2.5, 12: -3.0, 14: -3.5, 17: -3.0}
_MEDIAN_AMOUNT, _MEAN_AMOUNT, _LARGEST_AMOUNT = 22.0, 88.0, 25_691.16
_SHARE_OF_ZERO_AMOUNTS = 0.0064


def load(name: str, *, synthesis: int | None = None, backend: Backend = "polars") -> Frame:
    """Return a table that comes with the package; no network and no file of yours is needed.

    Parameters
    ----------
    name : {"cmc", "buyer_beware"}
        ``"cmc"``: Contraceptive Method Choice, 1,473 married women and 10 columns [1]_; what the
        numbers stand for is in ``cmc.LICENSE.md`` next to the file. ``"buyer_beware"``: 1,000
        simulated records of four binary variables, ``var1`` to ``var4``, of which the last one
        alone is 1, 1, 1, 1 [2]_.
    synthesis : int, optional
        For ``"buyer_beware"``, which of its ten published syntheses (1 to 10) to return in place
        of the original.
    backend : {"polars", "pandas", "pyarrow"}, default "polars"
        The kind of frame to return.

    Returns
    -------
    polars.DataFrame, pandas.DataFrame or pyarrow.Table
        The table. Rows of ``"buyer_beware"`` are ordered by their values: the paper gives counts.

    Raises
    ------
    DataError
        When there is no such table, or no such backend.
    ParameterError
        When the table has no such synthesis.

    References
    ----------
    .. [1] Lim, T.-S. (1997). Contraceptive Method Choice. UCI Machine Learning Repository.
       doi:10.24432/C59W2D (CC BY 4.0).
    .. [2] Latner, J., Neunhoeffer, M., Drechsler, J. Buyer Beware: Understanding the trade-off
       between utility and risk in CART based models using simulation data, Table A.1.

    Examples
    --------
    >>> load("cmc").shape
    (1473, 10)
    >>> load("buyer_beware", synthesis=2).shape
    (1000, 4)
    """
    if name not in AVAILABLE["load"]:
        raise unknown_table(name, "load")
    if name == "buyer_beware":
        return to_backend(_buyer_beware(_synthesis_number(synthesis)), backend)
    if synthesis is not None:
        raise ParameterError(
            f"`synthesis` is for 'buyer_beware'; {name!r} has no published syntheses, "
            f"so {synthesis!r} names none. Leave `synthesis` out."
        )
    return to_backend(_read_table(name), backend)


def load_syntheses(name: str, *, backend: Backend = "polars") -> list[Frame]:
    """Return all published syntheses of a bundled table, in the order of their numbers.

    Parameters
    ----------
    name : {"buyer_beware"}
        The table; see `load`.
    backend : {"polars", "pandas", "pyarrow"}, default "polars"
        The kind of frame to return.

    Returns
    -------
    list of frames
        Ten synthetic versions of ``"buyer_beware"``, 1,000 rows each; the first is number 1.

    Examples
    --------
    >>> len(load_syntheses("buyer_beware"))
    10
    """
    if name != "buyer_beware":
        raise DataError(
            f"There are no published syntheses of {name!r}, only of 'buyer_beware'."
            f"{did_you_mean(str(name), ['buyer_beware'])}"
        )
    numbers = range(1, _BUYER_BEWARE_SYNTHESES + 1)
    return [load(name, synthesis=number, backend=backend) for number in numbers]


def unknown_table(name: str, function: str) -> DataError:
    """Return the error for a name that `function` (load, simulate or fetch) does not know.

    Examples
    --------
    >>> print(unknown_table("cmcc", "load"))
    load() has no table 'cmcc'. Did you mean 'cmc'? It has: 'cmc', 'buyer_beware'.
    """
    known = AVAILABLE[function]
    others = [f"{other}({name!r})" for other, names in AVAILABLE.items() if name in names]
    hint = f" Use {' or '.join(others)}." if others else did_you_mean(str(name), known)
    listing = ", ".join(map(repr, known))
    return DataError(f"{function}() has no table {name!r}.{hint} It has: {listing}.")


def _read_table(name: str) -> pl.DataFrame:
    file = resources.files("understudy.data") / "tables" / f"{name}.csv"
    return pl.read_csv(file.read_bytes())


def _synthesis_number(synthesis: int | None) -> int:
    """Return the column of the table of counts: 0 for the original, else the synthesis."""
    if synthesis is None:
        return 0
    if not is_whole(synthesis) or not 1 <= synthesis <= _BUYER_BEWARE_SYNTHESES:
        raise ParameterError(
            f"`synthesis` must be a whole number from 1 to {_BUYER_BEWARE_SYNTHESES}, "
            f"not {synthesis!r}. Leave it out for the original."
        )
    return int(synthesis)


def _buyer_beware(column: int) -> pl.DataFrame:
    """Return the records behind the counts of a column: Table A.1 of the paper in `load`."""
    cells = _read_table("buyer_beware")
    names = ["var1", "var2", "var3", "var4"]
    counts = cells.drop(names)[:, column]
    return pl.DataFrame(np.repeat(cells[names].to_numpy(), counts, axis=0), schema=names)


def simulate(
    name: str,
    rows: int = _REAL_ROWS,
    *,
    random_state: int | np.random.Generator | None = 0,
    backend: Backend = "polars",
) -> Frame:
    """Return simulated rows in the shape of a table that may not be passed on.

    Parameters
    ----------
    name : {"credit_card"}
        ``"credit_card"``: card payments of two days, of which very few are frauds [1]_.
    rows : int, default 284_807
        How many rows; the default is the size of the real file.
    random_state : int, numpy.random.Generator or None, default 0
        The same seed gives the same table; None gives another one each time.
    backend : {"polars", "pandas", "pyarrow"}, default "polars"
        The kind of frame to return.

    Returns
    -------
    polars.DataFrame, pandas.DataFrame or pyarrow.Table
        The columns Time, V1 to V28, Amount and Class, in the order of the real file.

    Raises
    ------
    DataError
        When there is no such table, or no such backend.
    ParameterError
        When `rows` is no positive whole number, or `random_state` cannot be used.

    Notes
    -----
    No value comes from the real file; only summary figures do. Time is in whole seconds, sorted,
    with fewer payments at night. V1 to V28 follow a multivariate Student t distribution with five
    degrees of freedom: uncorrelated, heavy-tailed, and extreme together. Their standard deviations
    fall from 1.96 to 0.33. Amount is log-normal with median 22 and mean 88, and 0 in 0.64% of the
    rows. Class is 1 in 492 of 284,807 rows, in proportion for other sizes, but at least once;
    those rows are shifted in eight components.

    References
    ----------
    .. [1] Dal Pozzolo, A., Caelen, O., Johnson, R. A., Bontempi, G. (2015). Calibrating Probability
       with Undersampling for Unbalanced Classification. IEEE SSCI. doi:10.1109/SSCI.2015.33

    Examples
    --------
    >>> payments = simulate("credit_card", rows=2_000)
    >>> payments.shape, payments["Class"].sum()
    ((2000, 31), 3)
    """
    if name not in AVAILABLE["simulate"]:
        raise unknown_table(name, "simulate")
    if not is_whole(rows) or rows < 1:
        raise ParameterError(
            f"`rows` must be a positive whole number, not {rows!r}. "
            f"Leave it out for the {_REAL_ROWS:,} rows of the real file."
        )
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "`random_state` must be a whole number from 0 on, a numpy Generator or None, "
            f"not {random_state!r}."
        ) from error
    return to_backend(_credit_card(int(rows), rng), backend)


def _credit_card(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    positives = max(1, round(rows * _REAL_POSITIVES / _REAL_ROWS))
    is_positive = np.zeros(rows, dtype=np.int64)
    is_positive[rng.choice(rows, size=positives, replace=False)] = 1
    components = _components(np.flatnonzero(is_positive), rows, rng)
    return pl.DataFrame(
        {
            "Time": _times(rows, rng),
            **{f"V{number}": values for number, values in enumerate(components, start=1)},
            "Amount": _amounts(rows, rng),
            "Class": is_positive,
        }
    )


def _times(rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw seconds of two days from a rate that is lowest at 3 and highest at 15 o'clock."""
    edges = np.linspace(0, _LAST_SECOND + 1, 49)
    rate = 1 - 0.8 * np.cos(2 * np.pi * (np.arange(48) + 0.5 - 3) / 24)
    share_before = np.concatenate([[0.0], np.cumsum(rate)]) / rate.sum()
    seconds = np.interp(rng.random(rows), share_before, edges).astype(np.int64)
    seconds.sort()
    return seconds


def _components(
    positives: NDArray[np.intp], rows: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw V1 .. V28, one row of the result per component."""
    # One chi-square per record, not per value, makes the t multivariate and several times quicker.
    chi_square = rng.chisquare(_DEGREES_OF_FREEDOM, rows)
    unit = rng.standard_normal((_COMPONENTS, rows))
    unit *= np.sqrt((_DEGREES_OF_FREEDOM - 2) / chi_square)
    for number, shift in _SHIFT_OF_POSITIVES.items():
        unit[number - 1, positives] += shift
    unit *= np.geomspace(_WIDEST, _NARROWEST, _COMPONENTS)[:, np.newaxis]
    return unit


def _amounts(rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    # The mean of a log-normal is its median times exp(sigma^2 / 2).
    sigma = np.sqrt(2 * np.log(_MEAN_AMOUNT / _MEDIAN_AMOUNT))
    amounts = rng.lognormal(np.log(_MEDIAN_AMOUNT), sigma, rows)
    amounts[rng.random(rows) < _SHARE_OF_ZERO_AMOUNTS] = 0.0
    return np.minimum(amounts, _LARGEST_AMOUNT).round(2)
