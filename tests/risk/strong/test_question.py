"""What is asked, with a list of candidates: priors by hand, records that agree, and reasons."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.question import Listed, Question

TABLE = Coded.from_arrays({"a": [0, 1, 0, 1], "y": [0, 1, 0, 2]})
LABELS = {"y": ("low", "middle", "high")}


def listed(prior="uniform", rows=(0, 1, 3), truth=None):
    name = prior if isinstance(prior, str) else "given"
    question = Question(("y",), LABELS, np.array(rows), prior, name, "polars")
    candidates = Candidates.grid(("y",), (3,))
    return Listed(question, candidates, candidates.find(TABLE) if truth is None else truth)


def before(found):
    rows = found.question.rows
    return found.beliefs(rows, found.log_prior(rows, slice(None)), np.zeros((len(rows), 3))).prior


def test_priors_by_hand():
    assert before(listed()).tolist() == pytest.approx([1 / 3] * 3)
    # Of the 3 others of record 0, one is low, and half a record is spread over three values.
    sixth = 0.5 / 3
    shares = [(1 + sixth) / 3.5, sixth / 3.5, sixth / 3.5]
    assert before(listed("marginal")).tolist() == pytest.approx(shares)
    assert before(listed([2, 1, 1])).tolist() == pytest.approx([0.5, 0.25, 0.25])
    each = [[1, 1, 2], [0, 1, 1], [1, 1, 2]]
    assert before(listed(each)).tolist() == pytest.approx([0.25, 0.5, 0.5])
    with pytest.raises(ParameterError, match="3 candidates and 3 records"):
        before(listed([1, 2]))


def test_records_that_are_no_candidate_do_not_count():
    # Record 3 is none of the candidates, so that of the others of record 0 one of two is low.
    truth = np.array([0, 1, 0, -1])
    sixth = 0.5 / 3
    found = before(listed("marginal", rows=(0,), truth=truth))
    assert found.tolist() == pytest.approx([(1 + sixth) / 2.5])


def test_records_that_agree_are_looked_at_once():
    question = listed(rows=(2, 3, 0)).question
    first, number = question.distinct(TABLE, ["y"])
    assert TABLE["y"][first[number]].tolist() == TABLE["y"][[2, 3, 0]].tolist()
    assert len(first) == 2
    # With weights for each record, none stands for another.
    each = listed(np.ones((3, 3)), rows=(2, 3, 0)).question
    assert each.distinct(TABLE, ["y"])[0].tolist() == [2, 3, 0]


def test_what_is_undefined_has_a_reason():
    found = listed([1, 0, 0], rows=(0, 1))
    rows = found.question.rows
    logs = np.array([[0.0, 0, 0], [-np.inf, 0, 0]])
    beliefs = found.beliefs(rows, found.log_prior(rows, slice(None)), logs)
    told = found.answer("fixed", beliefs, reasons={"mc_error": "why"}, notes=["note"])
    assert told.guess[0] == "low"
    assert told.candidates.tolist() == [3, 3]
    assert told.reasons == {
        "mc_error": "why",
        "posterior": "the release has probability 0 in every world that the prior allows",
        "gain_bits": "the prior excludes the truth of 1 record",
    }
    assert told.notes == ("note",)
