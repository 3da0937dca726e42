"""The command `understudy attack`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options, session
from understudy.cli.option_groups import Reworded, argument, grouped, option, panel
from understudy.cli.options import split_names
from understudy.cli.strong_options import StrongOptions
from understudy.errors import ParameterError, did_you_mean
from understudy.wording import Unit

if TYPE_CHECKING:
    import polars as pl

    from understudy.audit.attacks import MadeAttack
    from understudy.risk import Command
    from understudy.risk.membership import ShadowMembership
    from understudy.risk.overview import Overview
    from understudy.risk.scenario import Scenario
    from understudy.synthesis import Synthesizer

_others = panel("Other attacks")
_OVERVIEW = "overview"
_TARGETS = 10


@dataclass(frozen=True, kw_only=True)
class OtherOptions:
    """Which attacks are made besides the strong attacker, and how."""

    attacks: Annotated[
        str,
        _others(
            "Attacks to make, separated by commas: overview, lookalikes, singling-out, "
            "linkability, membership, membership-control, own-copies, telling-keys, rare-values, "
            "carriers, nearest-neighbour, any-record, own-values.",
            default="all that the other options allow",
        ),
    ] = ""
    tolerance: Annotated[
        str | None,
        _others(
            'How far off a guess of a sensitive number or date may be: "0.05 ranks", a share of '
            'the records that lie between; "500 absolute"; "0.1 relative"; or "exact".',
            default="0.05 ranks for numbers of many values and dates",
        ),
    ] = None
    shadows: Annotated[
        int | None,
        _others(
            "Releases to make with --command to learn whether it tells who was in the data: so "
            "many for each of the most exposed people.",
            min=20,
        ),
    ] = None
    targets: Annotated[
        int | None, _others("How many people that is, with --shadows.", default="10", min=1)
    ] = None

    def check(self, strong: StrongOptions) -> None:
        """Raise if a name is not known, or options do not go together."""
        if self.shadows is not None and strong.command is None:
            raise ParameterError("--shadows needs --command.")
        if self.targets is not None and self.shadows is None:
            raise ParameterError("--targets needs --shadows.")
        if self.attacks:
            self.names()

    def wanted(self, strong: StrongOptions, attacker: options.Attacker) -> bool:
        """Whether any attack is to be made besides the strong one."""
        return bool(self.attacks or attacker.named) or not (strong.wanted or self.shadows)

    def names(self) -> set[str] | None:
        """Return the names of the measures, None for all."""
        asked = [name.replace("-", "_") for name in split_names(self.attacks)]
        if not asked:
            return None
        from understudy.audit.attacks import attack_names

        known = [_OVERVIEW, *attack_names()]
        for name in asked:
            if name not in known:
                shown = ", ".join(one.replace("_", "-") for one in known)
                raise ParameterError(
                    f"--attacks: there is no attack {name.replace('_', '-')!r}; there are "
                    f"{shown}.{did_you_mean(name, known)}"
                )
        return set(asked)

    def by_shadows(
        self,
        tool: Command,
        original: pl.DataFrame,
        synthetic: pl.DataFrame,
        *,
        processes: int,
        seed: int,
    ) -> ShadowMembership:
        """Learn from shadow releases whether people were in the data."""
        from understudy.risk import membership_by_shadows

        return membership_by_shadows(
            tool,
            original,
            synthetic,
            shadows=self.shadows or 0,
            targets=self.targets or _TARGETS,
            processes=processes,
            random_state=seed,
        )


@grouped
def attack(
    *,
    ctx: typer.Context,
    original: options.Original,
    synthetic: Annotated[
        list[options.Place],
        argument(
            "The synthetic table, from any tool; several tables of one original count together.",
            metavar="SYNTHETIC...",
            **options.PLACE,
        ),
    ],
    attacker: Annotated[options.Attacker, Reworded(panel=None)],
    others: OtherOptions,
    strong: StrongOptions,
    unit_id: Annotated[options.UnitId, Reworded(panel=None)] = "",
    unit_name: Annotated[options.UnitName, Reworded(panel=None)] = "",
    processes: Annotated[
        int,
        option(
            "Classifiers, fits or runs at the same time. The result is the same.",
            default=True,
            min=1,
        ),
    ] = 1,
    seed: options.Seed = 0,
    json: options.Json = None,
    force: options.Force = False,
    csv: options.Csv,
) -> None:
    """Try to learn what is in the original from a synthetic table, in many ways.

    Without --keys and --sensitive, only attacks that need neither are made. With --strong, an
    attacker who knows the synthesizer and all records but one tries; without --keys and --attacks,
    this is the only attack.

    Example: `understudy attack survey.csv synthetic.csv --keys age,education --sensitive method`

    Example: `understudy attack survey.csv synthetic.csv --attacks lookalikes,singling-out`

    Example: `understudy attack survey.csv synthetic.csv --model model.us --strong method`
    """
    strong.check(force=force, shadows=others.shadows is not None)
    others.check(strong)
    if not attacker.named:
        _check_unnamed(attacker, others, strong)
    units, groups = split_names(unit_id), attacker.read_groups()
    if units and others.shadows is not None:
        raise ParameterError("--shadows is about single records, so it does not take --unit-id.")
    inputs = [original, *synthetic, attacker.control, attacker.scenario, strong.model]
    outputs = [json, strong.strong_output]
    session.check_outputs(outputs, inputs, force)
    # Not a file to replace: it is there already when an attack goes on.
    session.check_outputs([strong.resume], [*inputs, *outputs], force=True)
    found, made, told, shadows = None, [], None, None
    notes: tuple[str, ...] = ()
    with session.progress(ctx):
        table, dialect = csv.open(original)
        # Before what attacks and models are made of is loaded: a slip is answered at once.
        attacker.check_typed(table.columns)
        scenario = attacker.read() if attacker.named else None
        source = strong.source()
        read = partial(csv.read, like=dialect)
        releases = list(map(read, synthetic))
        strong.check_table(table)
        unit = _unit(unit_name, units)
        if others.wanted(strong, attacker):
            control = read(attacker.control) if attacker.control is not None else None
            asked = _Asked(table, releases, scenario, control, groups, units, processes, seed)
            notes = asked.notes()
            found = asked.overview(attacker, others)
            made = asked.others(others, source)
        if others.shadows is not None:
            (release,) = _one(releases)
            shadows = others.by_shadows(source, table, release, processes=processes, seed=seed)  # type: ignore[arg-type]
        if strong.wanted and source is not None:
            told = strong.attack(
                source,
                table,
                releases,
                groups=groups,
                units=units,
                processes=processes,
                seed=seed,
            )
    if not ctx.obj["quiet"]:
        _show(notes, found, made, shadows, told, strong, unit)
    if json is not None:
        from understudy.report.attack_json import write_attack

        files: dict[str, options.Place | Sequence[options.Place] | None] = {
            "original": original,
            "synthetic": list(synthetic),
            "control": attacker.control,
            "model": strong.model,
        }
        settings = {
            "groups": groups,
            "unit_id": units or None,
            "unit": unit.many,
            "seed": seed,
            "tolerance": others.tolerance,
            "strong": strong.settings(),
        }
        plain = {one.measure.name: one.to_dict() for one in made}
        if shadows is not None:
            plain["membership_shadows"] = shadows.to_dict()
        write_attack(json, found, plain, told, files, settings, overwrite=force)
        session.say(ctx, f"Wrote {json}: all results.")
    if strong.strong_output is not None and told is not None:
        from understudy.data import write

        rows = told.to_frame(values=strong.show_records)
        write(rows, strong.strong_output, overwrite=force)
        session.say(
            ctx,
            f"Wrote {session.called(strong.strong_output)}: a row for each of {len(told):,} "
            "records, as confidential as the data.",
        )


@dataclass(frozen=True, eq=False)
class _Asked:
    """The tables of an attack, and who attacks."""

    original: pl.DataFrame
    releases: list[pl.DataFrame]
    scenario: Scenario | None
    control: pl.DataFrame | None
    groups: dict[str, int] | None
    units: list[str]
    processes: int
    seed: int

    def overview(self, attacker: options.Attacker, others: OtherOptions) -> Overview | None:
        """Return what guessing the sensitive attribute gives, if there is one and it is asked."""
        names = others.names()
        if self.scenario is None or (names is not None and _OVERVIEW not in names):
            return None
        from understudy.risk.overview import overview

        original, control = self.original, self.control
        if self.units:
            from understudy.audit.attacks import one_of_each_unit

            original, control, _ = one_of_each_unit(original, control, self.units, self.seed)
        return overview(
            original,
            self.releases,
            keys=self.scenario.keys,
            sensitive=self.scenario.sensitive,
            known=self.scenario.known,
            tolerance=others.tolerance,
            classifiers=attacker.preset,
            control=control,
            groups=self.groups,
            processes=self.processes,
            random_state=self.seed,
        )

    def notes(self) -> tuple[str, ...]:
        """Return what is said of units before the results."""
        if not self.units:
            return ()
        from understudy.audit.attacks import one_of_each_unit

        return one_of_each_unit(self.original, self.control, self.units, self.seed).notes

    def others(
        self, others: OtherOptions, source: Synthesizer | Command | None
    ) -> list[MadeAttack]:
        """Return what the other attacks find."""
        from understudy.audit.attacks import IN_OVERVIEW, attack_release
        from understudy.synthesis import Synthesizer

        return attack_release(
            self.original,
            self.releases,
            self.scenario,
            model=source if isinstance(source, Synthesizer) else None,
            control=self.control,
            groups=self.groups,
            tolerance=others.tolerance,
            unit_id=self.units or None,
            seed=self.seed,
            only=others.names(),
            without=IN_OVERVIEW,
        )


def _unit(name: str, units: Sequence[str]) -> Unit:
    """Return what the texts call those whom records are about."""
    from understudy.audit.task import read_unit
    from understudy.audit.units import name_of_units

    if name:
        return Unit.of(read_unit(name))
    return Unit.of(name_of_units(units) if units else "records")


def _one(releases: list[pl.DataFrame]) -> list[pl.DataFrame]:
    if len(releases) > 1:
        raise ParameterError("--shadows takes one synthetic table.")
    return releases


def _show(
    notes: Sequence[str],
    found: Overview | None,
    made: list[MadeAttack],
    shadows: ShadowMembership | None,
    told: Any,  # noqa: ANN401  # of the strong attacker
    strong: StrongOptions,
    unit: Unit,
) -> None:
    """Show all results, with a line between them, in words for the unit."""
    from rich.text import Text

    from understudy.report.attack_table import attack_table, findings_table

    parts = [
        *([Text(" ".join(notes))] if notes else []),
        *([attack_table(found, unit)] if found is not None else []),
        *([findings_table(made, unit)] if made else []),
        *([Text(unit.told(shadows.summary()))] if shadows is not None else []),
        *(strong.tables(told) if told is not None else []),
    ]
    spaced = [part for one in parts for part in ("", one)][1:]
    # A table that goes to the standard output is not mixed with what people read.
    session.show(*spaced, aside=str(strong.strong_output) == "-")


def _check_unnamed(attacker: options.Attacker, others: OtherOptions, strong: StrongOptions) -> None:
    """Raise if options need what the attacker knows and wants, which is not said."""
    if attacker.known is not None:
        raise ParameterError("--known needs --keys and --sensitive.")
    if others.tolerance is not None:
        raise ParameterError("--tolerance needs --keys and --sensitive.")
    if attacker.control is not None and not others.wanted(strong, attacker):
        raise ParameterError(
            "--control needs --keys and --sensitive, or --attacks: the strong attacker does not "
            "use it."
        )
    if attacker.groups and strong.command is None:
        raise ParameterError(
            "--groups needs --keys and --sensitive, or --command: a model has groups of its own."
        )
