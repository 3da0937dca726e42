"""Options of differential privacy: what is promised, what is public, and where account is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zipfile import is_zipfile

import typer

from understudy.cli import session
from understudy.cli.option_groups import panel, repeated, spelled
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.data import Schema
    from understudy.privacy import Account, Guarantee
    from understudy.synthesis import Synthesizer

_privacy = panel("Differential privacy (--method marginals, bayes and independent)")

NeighboursOption = Annotated[
    Literal["change-one", "add-remove"] | None,
    _privacy("What --epsilon compares: one record is another, or is absent.", default="change-one"),
]

_PRIVATE_METHODS = "marginals, bayes or independent"

NO_GROUPS_WITH_NOISE = (
    "--group-rare cannot be used with --epsilon: which levels are rare is a matter of the records. "
    "List the levels that you want in the public schema; records with others are left out."
)


def no_epsilon(cls: type[Synthesizer]) -> str:
    """Return why a method cannot be private."""
    return (
        f"--epsilon cannot be used with --method {cls.method}. {cls.why_not_private} Choose "
        f"--method {_PRIVATE_METHODS}."
    )


def read_schema(path: Path) -> Schema:
    """Return the schema of a file: a schema file, or a saved model."""
    from understudy.data import Schema

    if not is_zipfile(path):
        return Schema.load(path)
    from understudy.synthesis import Synthesizer

    return Synthesizer.load(path).schema_


def is_private(model: Synthesizer) -> bool:
    """Return whether a synthesizer learns with noise that keeps its epsilon."""
    return bool(getattr(model, "is_private", False))


def described_model(model: Synthesizer) -> str:
    """Return what a model file is, in words."""
    if is_private(model):
        return "the model, which keeps its epsilon, with its ledger"
    return "the model, as confidential as the data"


@dataclass(frozen=True, kw_only=True)
class PrivacyOptions:
    """The parameters of methods that learn under differential privacy, each with its option."""

    epsilon: Annotated[
        float | None,
        _privacy(
            "Learn with noise, so that nothing becomes more than exp(EPSILON) times as likely by "
            "one record. Needs a public schema, and the extra dp."
        ),
    ] = None
    delta: Annotated[
        float | None,
        _privacy(
            "The small probability of telling more than --epsilon says.",
            default="0 for bayes and independent, 1 in the square of the records for marginals",
        ),
    ] = None
    neighbours: NeighboursOption = None
    spend_on_domain: Annotated[
        float | None,
        _privacy(
            "The share of --epsilon with which levels and ranges that are not public are read from "
            "the records.",
            default="0: they must be public",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the parameters that were given."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class PrivacyFiles:
    """What a synthesis with epsilon reads and keeps account in."""

    public_schema: Annotated[
        Path | None,
        _privacy(
            "A schema file of which all is public knowledge: levels, ranges and cut points; or the "
            "model that was fitted with one. In place of --schema."
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        _privacy(
            "A file that keeps account of what all private releases of a table cost together, and "
            "refuses what goes beyond its cap. It is made if it is not there, with a cap of 3."
        ),
    ] = None

    def schema(self, schema: Path | None) -> Schema | None:
        """Return the schema that was given, if one was, or `schema`."""
        if self.public_schema is None:
            return None if schema is None else read_schema(schema)
        if schema is not None:
            raise ParameterError(
                "--public-schema is the schema: give it in place of --schema, not beside it."
            )
        return read_schema(self.public_schema).as_public()

    def words(self) -> list[str]:
        """Return these options as they are typed."""
        return repeated({"public_schema": self.public_schema, "ledger": self.ledger})

    def keep_account(
        self,
        ctx: typer.Context,
        models: Iterable[Synthesizer],
        whole: Callable[[], Any],
        times: int = 1,
    ) -> None:
        """Have models pay in the ledger before they learn from a table.

        Parameters
        ----------
        ctx : typer.Context
            Says whether to be quiet.
        models : iterable of Synthesizer
            What learns from the table; those that are not private cost nothing.
        whole : callable
            Gives the table with all records and columns.
        times : int
            How often each model is fitted. If there is not enough for all, nothing begins.
        """
        private = [model for model in models if is_private(model)]
        if not private and (self.ledger or self.public_schema):
            option_given = spelled("ledger" if self.ledger else "public_schema")
            raise ParameterError(f"{option_given} has no effect without --epsilon.")
        if self.ledger is None:
            return
        from understudy.privacy import Account

        account = Account.open(self.ledger, whole())
        account.check_room([_least(model) for model in private] * times)
        for model in private:
            model.before_noise = partial(self._pay, ctx, account, model.method)  # type: ignore[attr-defined]

    def _pay(self, ctx: typer.Context, account: Account, method: str, guarantee: Guarantee) -> None:
        session.say(ctx, f"{self.ledger}: {account.pay(guarantee, method)}")


def _least(model: Any) -> Guarantee:  # noqa: ANN401  # a private synthesizer
    """Return what a model promises, but for its delta, which may depend on the table."""
    from understudy.privacy import read_guarantee

    return read_guarantee(model.epsilon, None, model.neighbours, 0, pure=True)
