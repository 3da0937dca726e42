"""What is told of a model."""

from __future__ import annotations

import pytest

from understudy import BayesNet, Cart, Independent
from understudy.audit.findings import MadeBy
from understudy.audit.made_by import made_by, method_in_words
from understudy.audit.measures.network import network_of


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Independent(), "Independent()"),
        (Cart(minbucket=20, random_state=7), "Cart(minbucket=20)"),
        (Cart(minbucket={"age": 9}), "Cart(minbucket={'age': 9})"),
        (Cart(rules={"income": "age < 21 -> income = 8000"}), "Cart(rules=…)"),
        (Cart(keep=["sex"]), "Cart(keep=['sex'])"),
        (BayesNet(structure=[("age", "ill")]), "BayesNet(structure=[('age', 'ill')])"),
        (BayesNet(protect={"ill": None}), "BayesNet(protect={'ill': None})"),
        (BayesNet(structure="genetic"), "BayesNet(structure='genetic')"),
    ],
)
def test_methods(model, text, people):
    # The parameters are what matters, and rules have forms of their own.
    model.codec_ = Independent().fit(people).codec_
    assert method_in_words(model) == text


def test_without_a_model_there_is_nothing_to_tell():
    assert method_in_words(None) == ""
    assert made_by(None) is None


def test_the_same_for_programs(people):
    model = Cart(keep=("sex",), cp=0.01, rules={"income": "age < 21 -> income = 8000"})
    model.codec_ = Independent().fit(people).codec_
    assert made_by(model) == MadeBy("cart", {"cp": 0.01, "keep": ["sex"]}, ("rules",))


def test_texts_that_are_no_columns_of_a_fitted_model_are_not_told(people):
    model = Cart(keep=["sex"], random_state=1).fit(people)
    assert method_in_words(model) == "Cart(keep=['sex'])"
    model.keep = ["sex", "Smith"]
    assert method_in_words(model) == "Cart(keep=…)"


def test_other_models_have_no_network():
    assert network_of(Independent()) is None
    assert network_of(None) is None
