"""Shares of tables that are only counted are those of tables in memory, to the bit."""

from __future__ import annotations

import polars as pl
import pytest

from understudy import load, read, scan, write
from understudy.errors import DataError, ParameterError
from understudy.risk.attribution import attribution
from understudy.risk.disclosure import disclosure
from understudy.utility.marginals import marginals


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    survey = load("cmc").with_columns(
        pl.when(pl.col("age") % 7 > 0).then(pl.col("age").cast(pl.Float64) / 2).alias("half"),
        pl.Series("town", [f"t{n * n % 90}" for n in range(1473)]),
    )
    other = survey.with_columns(
        pl.col("age", "half", "town").shuffle(seed=1), pl.lit(float("nan")).alias("gap")
    )
    survey = survey.with_columns(pl.lit(None, pl.Float64).alias("gap"))
    paths = [write(one, folder / f"{n}.parquet") for n, one in enumerate((survey, other[:900]))]
    return [read(path) for path in paths], [scan(path, batch_rows=400) for path in paths]


@pytest.mark.parametrize("options", [{}, {"groups": 3, "special": {"half": [9.0]}, "ways": 3}])
def test_marginals(tables, options):
    whole, streamed = (marginals(*pair, **options) for pair in tables)
    assert streamed.to_dict() == whole.to_dict()
    assert streamed.to_frame().equals(whole.to_frame())
    assert all(streamed.shares(name).equals(whole.shares(name)) for name in whole.columns)


def test_a_frame_beside_a_file(tables):
    (original, synthetic), (_, streamed) = tables
    assert marginals(original, streamed).to_dict() == marginals(original, synthetic).to_dict()


def test_problems_are_those_of_frames(tables):
    for pair in tables:
        with pytest.raises(ParameterError, match=r"no column 'agee'\. Did you mean 'age'\?"):
            marginals(*pair, columns=["agee"])
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        marginals(tables[1][0], tables[0][1].clear())


@pytest.mark.parametrize("attack", [attribution, disclosure])
@pytest.mark.parametrize(
    "options",
    [
        {"keys": ["age", "children", "town"], "sensitive": "method"},
        {"keys": ["age", "half"], "sensitive": "method", "groups": {"age": 4}},
        {"keys": ["children", "method"], "sensitive": "age"},
    ],
)
def test_attacks(tables, attack, options):
    control = tables[0][1][:200]
    found = [attack(*pair, control=control, **options) for pair in tables]
    assert found[1].to_dict() == found[0].to_dict()
    assert found[1].records == 1473 if attack is attribution else found[1].n_original == 1473
    with pytest.raises(ParameterError, match="only counted, so there is no row for each record"):
        found[1].per_record()
