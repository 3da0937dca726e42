"""What an audit found, in plain values: all that the report shows and the JSON file holds.

Every field is a number, a text, or a tuple or mapping of such, so that an audit can be written as
JSON and read back. Shares are fractions of 1; what is undefined is nan. No field holds a value of
the original, but for `WorstRecord.values` and the names of rare values (only if asked for), and
labels that the release shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from understudy.audit.attack_findings import (
    LATER,
    KeySetFindings,
    LookalikeFindings,
    MembershipCurve,
    RareValueFindings,
)
from understudy.audit.limits import Limits
from understudy.audit.number_findings import (
    ConditionalMeanFindings,
    CorrelationFindings,
    ImpossibleFindings,
)
from understudy.audit.privacy_findings import PrivacyFindings
from understudy.data.decisions import Reading
from understudy.utility.shares import ColumnShares
from understudy.wording import Unit

NAN = math.nan


@dataclass(frozen=True)
class Figure:
    """One measure of risk beside its references: means over the syntheses of a release.

    Parameters
    ----------
    measure : str
        The name by which the gate knows it; `understudy.audit.measures` declares them.
    title, meaning : str
        Its name for people, and what is counted, in words.
    baseline, synthetic, original, control : float
        The share without the release, with it, with the original itself, and with the release for
        people who are not in the data; nan where there is none.
    gain : float
        What the release adds to the baseline; nan for measures that have none.
    spread : float
        Standard deviation of `synthetic` over the syntheses; nan if there is one.
    note : str
        Why a value is undefined, or what to bear in mind; empty if there is nothing to say.
    """

    measure: str
    title: str
    meaning: str
    baseline: float = NAN
    synthetic: float = NAN
    original: float = NAN
    control: float = NAN
    gain: float = NAN
    spread: float = NAN
    note: str = ""


@dataclass(frozen=True)
class SubsetRisk:
    """The attack by someone who knows some of the keys: share of correct guesses (GCAP)."""

    keys: tuple[str, ...]
    baseline: float
    synthetic: float
    original: float


@dataclass(frozen=True)
class Histogram:
    """How many records have a score in each interval; there is one more edge than counts."""

    edges: tuple[float, ...]
    synthetic: tuple[int, ...]
    original: tuple[int, ...] = ()


@dataclass(frozen=True)
class WorstRecord:
    """One of the people most exposed by the release: the row number, and how exposed.

    `values` holds the keys and the sensitive value, and is empty unless they were asked for.
    """

    record: int
    attribution: float
    posterior: float = NAN
    gain_bits: float = NAN
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StrongFindings:
    """What the strong attacker learns: see `StrongAttack`; `gains` counts records by bits."""

    prior: str
    mode: str
    records: int
    certain: int
    share_above_half: float
    share_above_90_percent: float
    accuracy_before: float
    accuracy_after: float
    mean_gain_bits: float
    gain_bits_99_percent: float
    max_gain_bits: float
    gains: Histogram
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DisclosureFindings:
    """Identity and attribute disclosure as in synthpop, with the checks of what misleads."""

    uio: float
    uis: float
    repu: float
    dorig: float
    disco: float
    disco_baseline: float
    disco_gain: float
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnonymityFindings:
    """k, distinct l and t of the keys' classes, in the original and in the release."""

    k_original: float
    k_synthetic: float
    l_original: float
    l_synthetic: float
    t_original: float
    t_synthetic: float


@dataclass(frozen=True)
class WayFindings:
    """Distances of all tables of one, two or three columns, beside those that chance gives."""

    way: int
    tables: int
    mean: float
    expected: float
    ratio: float
    worst: tuple[tuple[tuple[str, ...], float, float], ...]
    """The tables furthest off: columns, distance, and the distance that chance gives."""


@dataclass(frozen=True)
class AssociationFindings:
    """Strength of association of all pairs of columns, as square matrices; nan if undefined."""

    columns: tuple[str, ...]
    original: tuple[tuple[float, ...], ...]
    synthetic: tuple[tuple[float, ...], ...]
    mean_difference: float
    largest_difference: float
    expected_difference: float


@dataclass(frozen=True)
class PropensityFindings:
    """How well a model tells original from synthetic records."""

    model: str
    pmse: float
    ratio: float
    standardised: float
    auc: float
    auc_by_chance: float


@dataclass(frozen=True)
class ClassifierFindings:
    """One classifier that predicts the target of real records, trained on either table.

    Confusion matrices have a row for each true class and a column for each predicted one; the
    classes are those of `PredictionFindings`.
    """

    classifier: str
    real_accuracy: float
    synthetic_accuracy: float
    difference: float
    difference_low: float
    difference_high: float
    real_confusion: tuple[tuple[int, ...], ...]
    synthetic_confusion: tuple[tuple[int, ...], ...]
    real_precision: float
    real_recall: float
    real_f2: float
    synthetic_precision: float
    synthetic_recall: float
    synthetic_f2: float


@dataclass(frozen=True)
class PredictionFindings:
    """Prediction of the target: training on the release against training on real records.

    `held_out` says in words what the test records are, and `note` what must be known about them.
    """

    target: str
    classes: tuple[str, ...]
    positive: str
    held_out: str
    baseline: float
    mean_real: float
    mean_synthetic: float
    mean_difference: float
    classifiers: tuple[ClassifierFindings, ...]
    note: str = ""


@dataclass(frozen=True)
class DependencyFindings:
    """Something that holds between columns of the original, and whether the release keeps it.

    Parameters
    ----------
    kind, sentence : str
        What kind of dependency it is, and what it says.
    columns : tuple of str
        The columns that it names.
    original, synthetic : float
        The share of records that break it; nan if the release does not show the columns.
    broken : bool
        Whether the release breaks it more often than the original, beyond chance.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str
    original: float
    synthetic: float
    broken: bool


@dataclass(frozen=True)
class UtilityFindings:
    """What the release keeps of the original; `notes` say what was not compared."""

    marginals: tuple[WayFindings, ...] = ()
    shares: tuple[ColumnShares, ...] = ()
    association: AssociationFindings | None = None
    propensity: tuple[PropensityFindings, ...] = ()
    prediction: PredictionFindings | None = None
    notes: tuple[str, ...] = ()
    correlations: CorrelationFindings | None = field(default=None, metadata=LATER)
    conditional_means: ConditionalMeanFindings | None = field(default=None, metadata=LATER)
    impossible: ImpossibleFindings | None = field(default=None, metadata=LATER)
    dependencies: tuple[DependencyFindings, ...] = field(default=(), metadata=LATER)


@dataclass(frozen=True)
class NetworkFindings:
    """The network of the model: edges (parent, child, bits), in the order of drawing."""

    order: tuple[str, ...]
    edges: tuple[tuple[str, str, float], ...]
    protected: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnRisk:
    """What an attacker learns of one column by the most similar records of the release.

    Parameters
    ----------
    column : str
        The column that is guessed.
    level : {"low", "raised", "high", "not measured"}
        How serious it is.
    baseline, synthetic, gain : float
        Share of correct guesses without the release, with it, and the difference.
    control : float
        The same for control records; nan without any.
    difference, difference_low, difference_high, p_value : float
        How much more often people in the data are guessed than control records, among those with
        the same value; its interval and p-value for all columns together.
    tells : {"people", "pattern", "either", "nothing", "unknown"}
        Whether that is about the people in the data or true of everybody.
    note : str
        Why there is no figure.
    keys : tuple of str
        By which keys it is guessed best: all, or a single one.
    """

    column: str
    level: str
    baseline: float = NAN
    synthetic: float = NAN
    gain: float = NAN
    control: float = NAN
    difference: float = NAN
    difference_low: float = NAN
    difference_high: float = NAN
    p_value: float = NAN
    tells: str = "unknown"
    note: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class MadeBy:
    """The method that made a release, and the parameters that were changed, as plain values.

    `unsaid` names parameters that were set to something that may hold values of the data.
    """

    method: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReleaseFindings:
    """All that was found about one release: one or several syntheses by one method.

    Charts and lists of single records are about the first synthesis; figures are means over all.

    Parameters
    ----------
    name : str
        What the release is called: the file, or the method.
    method : str
        The synthesizer and its parameters in words, if the model is known.
    syntheses, rows : int
        How many tables, and the rows of the first.
    figures : tuple of Figure
        The measures of risk.
    copied, one_of_a_kind : float and int
        Of the original records that no other one is like, the share that the release holds, and
        their number.
    new_records : float
        The share of the release's records that are none of the original's, as a multiple of the
        share that fresh people would bring.
    drawn : bool
        Whether its model drew it for this very audit, so that nothing was put into it since.
    errors : mapping
        What went wrong, by measure; the other measures stand.
    made_by : MadeBy or None
        The same as `method`, for programs.
    numbers : mapping
        Further figures by the names that the gate knows, of measures without a field of their own.
    ranking : tuple of ColumnRisk
        Which column gives people away most, if no sensitive one was named.
    lookalikes, membership_curve, rare_values, telling_keys
        What the charts of these attacks show.
    description_seconds, generation_seconds : float
        How long the model took to be fitted, and to draw a table, if the model is known.
    privacy : PrivacyFindings or None
        What is known of differential privacy, if the model learnt with noise.
    """

    name: str
    method: str
    syntheses: int
    rows: int
    figures: tuple[Figure, ...] = ()
    subsets: tuple[SubsetRisk, ...] = ()
    attribution: Histogram | None = None
    worst: tuple[WorstRecord, ...] = ()
    strong: StrongFindings | None = None
    disclosure: DisclosureFindings | None = None
    anonymity: AnonymityFindings | None = None
    utility: UtilityFindings = UtilityFindings()
    network: NetworkFindings | None = None
    copied: float = NAN
    one_of_a_kind: int = 0
    errors: Mapping[str, str] = field(default_factory=dict)
    made_by: MadeBy | None = field(default=None, metadata=LATER)
    numbers: Mapping[str, float] = field(default_factory=dict, metadata=LATER)
    ranking: tuple[ColumnRisk, ...] = field(default=(), metadata=LATER)
    lookalikes: LookalikeFindings | None = field(default=None, metadata=LATER)
    new_records: float = field(default=NAN, metadata=LATER)
    drawn: bool = field(default=False, metadata=LATER)
    membership_curve: MembershipCurve | None = field(default=None, metadata=LATER)
    rare_values: tuple[RareValueFindings, ...] = field(default=(), metadata=LATER)
    telling_keys: tuple[KeySetFindings, ...] = field(default=(), metadata=LATER)
    description_seconds: float = field(default=NAN, metadata=LATER)
    generation_seconds: float = field(default=NAN, metadata=LATER)
    privacy: PrivacyFindings | None = field(default=None, metadata=LATER)

    def figure(self, measure: str) -> Figure | None:
        """Return a measure by name, None if it was not run."""
        return next((found for found in self.figures if found.measure == measure), None)


@dataclass(frozen=True)
class Findings:
    """All that an audit found.

    Parameters
    ----------
    version : str
        Of the program.
    created : str
        When, as ISO 8601 text with the time zone.
    seconds : float
        How long it took.
    seed : int
        Decides what is random.
    command : str
        The command, or the call, that made it.
    measures : str
        quick, standard or full.
    rows, columns : int
        Of the original.
    keys : tuple of str
        What the attacker may know.
    known : int or None
        How many of them are known at a time; None for all.
    sensitive, target : str
        What the attacker wants, and what the data are used to predict; empty if there is none.
    releases : tuple of ReleaseFindings
        What was found about each release.
    limits : Limits
        What counts as much, for the verdict.
    notes : tuple of str
        What else must be known about the tables, such as that records were kept back.
    unit : str
        What a record is about, or a unit if units are named: records, people, households.
    numbers, texts : tuple of str
        Those of the keys that hold numbers or dates, some of them extreme, and text.
    readings : tuple of Reading
        How the columns of the original were read, if the model is known.
    unit_id : tuple of str
        The columns that name the units together; empty if risk is counted by record.
    unit_count : int or None
        How many units the original has; None if risk is counted by record.
    """

    version: str
    created: str
    seconds: float
    seed: int
    command: str
    measures: str
    rows: int
    columns: int
    keys: tuple[str, ...]
    known: int | None
    sensitive: str
    target: str
    releases: tuple[ReleaseFindings, ...]
    limits: Limits = field(default=Limits(), metadata=LATER)
    notes: tuple[str, ...] = field(default=(), metadata=LATER)
    unit: str = field(default="records", metadata=LATER)
    numbers: tuple[str, ...] = field(default=(), metadata=LATER)
    texts: tuple[str, ...] = field(default=(), metadata=LATER)
    readings: tuple[Reading, ...] = field(default=(), metadata=LATER)
    unit_id: tuple[str, ...] = field(default=(), metadata=LATER)
    unit_count: int | None = field(default=None, metadata=LATER)

    @property
    def counted(self) -> int:
        """How many there are of what risk is counted by: units if they are named, else records."""
        return self.rows if self.unit_count is None else self.unit_count

    @property
    def everybody(self) -> str:
        """How many there are in words, with their records if these are more."""
        found = self.units.count(self.counted)
        return found if self.unit_count is None else f"{found} ({self.rows:,} records)"

    @property
    def units(self) -> Unit:
        """What a record is about, in words for one and for many."""
        return Unit.of(self.unit)
