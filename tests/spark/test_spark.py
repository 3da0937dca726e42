"""Real Spark, on this machine: all that comes out is what comes out of a frame, to the bit.

One session serves all tests, since it takes seconds to start.
"""

from __future__ import annotations

import os
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy import BayesNet, Independent, Schema, load
from understudy.data import Codec, counted
from understudy.data.source import source_of
from understudy.data.spark_table import read_on_spark
from understudy.errors import DataError
from understudy.risk import attribution, disclosure
from understudy.synthesis import GaussianCopula
from understudy.utility import marginals

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'understudy[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java is not installed, which Spark needs", allow_module_level=True)
# PySpark warns of a pandas that it was not tried with, and of what it leaves open at its end.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame():
    """The survey as Spark has it, with a column of the name that Spark's own counts have."""
    survey = load("cmc").select("age", "children", "education", "method")
    survey = survey.rename({"children": "chil.dren", "education": "count"})
    survey = survey.with_columns(half=survey["age"] / 2)
    return survey.to_arrow().cast(
        pa.schema(
            [
                ("age", pa.int64()),
                ("chil.dren", pa.int64()),
                ("count", pa.string()),
                ("method", pa.string()),
                ("half", pa.float64()),
            ]
        )
    )


@pytest.fixture(scope="module")
def table(spark, frame):
    return spark.createDataFrame(frame).repartition(3).cache()


def test_a_table_is_described_and_coded_as_a_frame_is(table, frame, monkeypatch):
    for most in (2**18, 10):  # counted in one pass, and grouped by itself
        monkeypatch.setattr(counted, "MOST_DISTINCT", most)
        assert Schema.infer(table) == Schema.infer(frame)
        assert Codec.fit(table).to_plain() == Codec.fit(frame).to_plain()
    source = source_of(table)
    assert source.rows == 1473
    rows, counts = source.combinations(["chil.dren", "count"])
    assert (rows.columns, counts.sum()) == (["chil.dren", "count"], 1473)


@pytest.mark.parametrize(
    "model",
    [
        BayesNet(2, random_state=1),
        BayesNet(2, "greedy", smoothing=0, random_state=1),
        GaussianCopula(random_state=1),
        Independent(random_state=1),
    ],
    ids=["predictive", "greedy", "copula", "independent"],
)
def test_models_and_rows_are_those_of_a_frame(spark, table, frame, model):
    schema = Schema.infer(frame)
    whole, fitted = model.clone().fit(frame, schema), model.clone().fit(table, schema)
    (header, arrays), (own, others) = whole.contents(), fitted.contents()
    assert own == header
    assert {k: a.tobytes() for k, a in others.items()} == {
        k: a.tobytes() for k, a in arrays.items()
    }
    drawn = fitted.sample_spark(spark, 70_000, random_state=3).toArrow()  # two blocks
    assert drawn.equals(whole.sample(70_000, random_state=3))


def test_files_are_read_on_the_cluster(spark, table, frame, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"Spark cannot read .*x\.csv as Parquet"):
        read_on_spark(tmp_path / "x.csv")
    pq.write_table(frame, tmp_path / "x.parquet")
    assert read_on_spark(tmp_path / "x.parquet", ["age"]).columns == frame.column_names[1:]
    with pytest.raises(DataError, match="'agee'"):
        read_on_spark(tmp_path / "x.parquet", ["agee"])


def test_figures_are_those_of_frames(spark, table, frame):
    drawn = Independent(random_state=2).fit(frame).sample(1000)
    release = spark.createDataFrame(drawn)
    for attack in (attribution, disclosure):
        options = {"keys": ["age", "count"], "sensitive": "method"}
        assert attack(table, release, **options).to_dict() == (
            attack(frame, drawn, **options).to_dict()
        )
    found = marginals(table, release, ways=(1, 2))
    assert found.to_dict() == marginals(frame, drawn, ways=(1, 2)).to_dict()
