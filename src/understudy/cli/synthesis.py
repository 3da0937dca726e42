"""How to synthesize: the options of `understudy synth` and `run`, and their synthesizer.

An option of a method is declared together with the parameter that it sets, so that a command can
be read into parameters, and parameters can be said as a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_type_hints

from understudy.cli import options
from understudy.cli.option_groups import option, panel, repeated, spelled
from understudy.cli.preparation import Preparation, Prepared
from understudy.cli.privacy_options import (
    NO_GROUPS_WITH_NOISE,
    PrivacyFiles,
    PrivacyOptions,
    is_private,
    no_epsilon,
)
from understudy.errors import ParameterError, UnderstudyError

if TYPE_CHECKING:
    import polars as pl

    from understudy.data import Schema
    from understudy.synthesis import Synthesizer
    from understudy.synthesis.settings import Settings

Method = Literal["bayes", "cart", "copula", "independent", "marginals", "random"]

_bayes = panel("Bayesian network (--method bayes)")
_cart = panel("Trees (--method cart)")
_marginals = panel("Noisy tables (--method marginals)")

_IRRELEVANT = ("random_state", "threads")
"""Parameters that advice on a release need not repeat: they say nothing about how it is made."""


class Form(NamedTuple):
    """How an option stands for a parameter of a synthesizer, in both directions."""

    read: Callable[[Any], Any]
    """Turns what was typed into the parameter."""

    say: Callable[[Any], Iterable[str]]
    """Turns the parameter into what to type after the option, each time that it is given.

    Nothing, if it cannot be said so; an empty text for an option that needs none.
    """

    parameter: str = ""
    """The parameter, if it is not called like the option."""


def read_protection(texts: Sequence[str]) -> dict[str, str | None]:
    """Return the targets of sensitive columns that were given as SENSITIVE:TARGET.

    Examples
    --------
    >>> read_protection(["income:job", "ill:"])
    {'income': 'job', 'ill': None}
    """
    found: dict[str, str | None] = {}
    for text in texts:
        sensitive, _, target = text.rpartition(":")
        if not sensitive:
            raise ParameterError(f"--protect must be SENSITIVE:TARGET or SENSITIVE:; got {text!r}.")
        if sensitive in found:
            raise ParameterError(
                f"--protect names each sensitive column once; it names {sensitive!r} twice."
            )
        found[sensitive] = target or None
    return found


def read_separation(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return from which columns sensitive ones are protected, given as SENSITIVE:KEY,KEY.

    Examples
    --------
    >>> read_separation(["ill:age,sex"])
    {'ill': ['age', 'sex']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        sensitive, _, chosen = text.rpartition(":")
        names = options.split_names(chosen)
        if not sensitive or not names:
            raise ParameterError(f"--protect-from must be SENSITIVE:KEY,KEY; got {text!r}.")
        found[sensitive] = [*found.get(sensitive, []), *names]
    return found


def _read_edges(option_name: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return edges that were given as PARENT:CHILD."""
    found = []
    for text in texts:
        parent, _, child = text.rpartition(":")
        if not parent or not child:
            raise ParameterError(f"{option_name} must be PARENT:CHILD; got {text!r}.")
        found.append((parent, child))
    return found


def _say_separation(value: Any) -> list[str]:  # noqa: ANN401
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [
        f"{one}:{options.joined_names([own] if isinstance(own, str) else map(str, own))}"
        for one, own in pairs
    ]


def _say_edges(value: Any) -> list[str]:  # noqa: ANN401
    edges = value if isinstance(value, list | tuple) else []
    said = [f"{parent}:{child}" for parent, child in edges]
    # A name with a colon would be read as another edge.
    return said if all(text.count(":") == 1 for text in said) else []


def _say_plain(value: Any) -> list[str]:  # noqa: ANN401  # a parameter of any type
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return []
    return [f"{value:.15g}" if isinstance(value, float) else str(value)]


def _say_names(value: Any) -> list[str]:  # noqa: ANN401
    names = [value] if isinstance(value, str) else value
    return [options.joined_names(map(str, names))] if isinstance(names, list | tuple) else []


def _say_texts(value: Any) -> list[str]:  # noqa: ANN401
    texts = value if isinstance(value, list | tuple) else []
    return [text for text in texts if isinstance(text, str)]


def _say_protection(value: Any) -> list[str]:  # noqa: ANN401
    pairs = value.items() if isinstance(value, Mapping) else ()
    # A target that the option cannot name is left out, which protects more.
    return [f"{one}:{target if target and ':' not in target else ''}" for one, target in pairs]


def _read_number(text: str) -> str | float:
    """Return the number that was typed, or the text if it is none."""
    try:
        return float(text)
    except ValueError:
        return text


_PLAIN = Form(lambda value: value, _say_plain)
_NAMES = Form(options.split_names, _say_names)


def read_workload(texts: Sequence[str]) -> int | list[list[str]]:
    """Return the workload that was given as one number, or as sets of columns.

    Examples
    --------
    >>> read_workload(["2"]), read_workload(["age,income", "sex"])
    (2, [['age', 'income'], ['sex']])
    """
    if len(texts) == 1 and texts[0].strip().isdigit():
        return int(texts[0])
    return [options.split_names(text) for text in texts]


def _say_workload(value: Any) -> list[str]:  # noqa: ANN401
    if not isinstance(value, list | tuple):
        return _say_plain(value)
    sets = [own for own in value if all(isinstance(name, str) for name in own)]
    # Weights cannot be said.
    return [options.joined_names(own) for own in sets] if len(sets) == len(value) else []


_FLAG = Form(lambda given: given or None, lambda value: [""] if value is True else [])

Protect = Annotated[
    list[str] | None,
    option(
        "SENSITIVE:TARGET: keep the link between a sensitive column and its target, and cut its "
        "links to all other columns. SENSITIVE: cuts all of its links. Repeatable.",
        panel="Protection (--method bayes, cart and marginals)",
    ),
]


@dataclass(frozen=True, kw_only=True)
class MethodOptions(PrivacyOptions):
    """The parameters of the methods, each with its option."""

    dp_method: Annotated[
        Literal["aim", "mst"] | None,
        _marginals(
            "Which tables to measure. aim: what the model so far gets most wrong. mst: a tree of "
            "pairs of columns, which is quicker.",
            default="aim",
        ),
        Form(lambda value: value, _say_plain, "method"),
    ] = None
    workload: Annotated[
        list[str] | None,
        _marginals(
            "Which tables the release shall get right: a number for all tables of so many columns, "
            "or the names of some columns. Repeatable.",
            default="3",
        ),
        Form(read_workload, _say_workload),
    ] = None
    max_model_mb: Annotated[
        float | None,
        _marginals("How large the tables of the model may be together, in MB.", default="2"),
    ] = None
    parents: Annotated[
        int | None,
        _bayes("Maximum number of columns that a column depends on.", default="3", min=0),
    ] = None
    structure: Annotated[
        Literal["predictive", "greedy", "genetic", "optimal"] | None,
        _bayes(
            "How to find the network. predictive: as many parents for each column as help to "
            "describe records that are left out.",
            default="predictive",
        ),
    ] = None
    min_count: Annotated[
        int | None,
        _bayes(
            "Do not use combinations of values that fewer records have, but those of fewer "
            "columns.",
            default="1",
            min=1,
        ),
    ] = None
    parent_groups: Annotated[
        int | None,
        _bayes(
            "Also try the numbers of a parent in so many groups of neighbours (predictive); 1 does "
            "not.",
            default="4",
            min=1,
        ),
    ] = None
    no_halves: Annotated[
        bool,
        _bayes("Draw the bin of a number at once, not half by half.", "--no-halves"),
        Form(
            lambda given: False if given else None,
            lambda value: [""] if value is False else [],
            "halves",
        ),
    ] = False
    root: Annotated[
        str | None,
        _bayes(
            "The column that the network starts with.",
            default="the one that varies most, or drawn",
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        _bayes("An edge that the network must have, PARENT:CHILD. Repeatable."),
        Form(partial(_read_edges, "--require"), _say_edges, "required"),
    ] = None
    forbid: Annotated[
        list[str] | None,
        _bayes("An edge that the network must not have, PARENT:CHILD. Repeatable."),
        Form(partial(_read_edges, "--forbid"), _say_edges, "forbidden"),
    ] = None
    protect_from: Annotated[
        list[str] | None,
        _bayes(
            "SENSITIVE:KEY,KEY: no path of the network links the sensitive column with what an "
            "attacker may know, so that they are independent. Other columns may depend on both. "
            "Repeatable.",
        ),
        Form(read_separation, _say_separation),
    ] = None
    population: Annotated[
        int | None, _bayes("Networks in each round of the genetic search.", default="200", min=1)
    ] = None
    elite: Annotated[
        int | None,
        _bayes("Of them, how many live on unchanged and have offspring.", default="10", min=1),
    ] = None
    mutation_rate: Annotated[
        float | None,
        _bayes(
            "How often the genetic search changes a part of a network.",
            default="1 in the number of columns",
            min=0,
            max=1,
        ),
    ] = None
    generations: Annotated[
        int | None, _bayes("Rounds of the genetic search.", default="400", min=0)
    ] = None
    threads: Annotated[
        int | None, _bayes("Threads to use. The result is the same.", default="1", min=1)
    ] = None
    protect: Annotated[Protect, Form(read_protection, _say_protection)] = None
    minbucket: Annotated[
        int | None,
        _cart(
            "Minimum number of records in a leaf. More hide single records better.",
            default="5",
            min=1,
        ),
    ] = None
    cp: Annotated[
        float | None,
        _cart(
            "Share of the impurity that a split must explain. More gives smaller trees.",
            default="1e-8",
            min=0,
        ),
    ] = None
    visit: Annotated[
        str | None,
        _cart(
            "Columns in the order in which to draw them; the others follow.",
            default="as in the data",
        ),
        _NAMES._replace(parameter="visit_sequence"),
    ] = None
    keep: Annotated[
        str | None,
        option(
            "Columns to leave as they are.", panel="Partial synthesis (--method bayes and cart)"
        ),
        _NAMES,
    ] = None
    strata: Annotated[
        str | None,
        _cart("Columns whose values split the records. Each part gets trees of its own."),
        _NAMES,
    ] = None
    proper: Annotated[
        bool, _cart("Grow trees on bootstrap samples, new ones for each copy.", "--proper"), _FLAG
    ] = False
    rule: Annotated[
        list[str] | None,
        _cart("\"if marital == 'single' then years_married = 0\". Repeatable."),
        Form(list, _say_texts, "rules"),
    ] = None
    max_predictors: Annotated[
        int | None,
        _cart(
            "Maximum number of columns that a tree uses: the most informative ones.",
            default="all; 20 of more than 100",
            min=1,
        ),
    ] = None
    splits: Annotated[
        Literal["auto", "exact", "histogram"] | None,
        _cart(
            "Where a tree may split numbers: anywhere, or between 256 bins, which is much faster.",
            default="auto: histogram above 50,000 rows",
        ),
    ] = None
    smoothing_leaves: Annotated[
        str | None,
        _cart(
            "auto, or how many records the node above lends to each leaf (0: none), so that "
            "nobody's values come back for certain.",
            default="auto",
        ),
        Form(_read_number, _say_plain),
    ] = None
    smoothing: Annotated[
        str | None,
        option(
            "bayes: auto, or how many records a larger group lends to a smaller one (0: none), so "
            "that nobody's values come back for certain. cart and copula: interpolate or density, "
            "to move numbers up to halfway to their neighbours, or by normal noise.",
            panel="Smoothing (--method bayes, cart and copula)",
            default="auto for bayes, off for the others",
        ),
        Form(_read_number, _say_plain),
    ] = None
    no_panel: Annotated[
        bool,
        option(
            "Draw each record by itself, even if a column names the unit that records belong to.",
            "--no-panel",
            panel="Panels (--method bayes and cart)",
        ),
        Form(
            lambda given: False if given else None,
            lambda value: [""] if value is False else [],
            "panel",
        ),
    ] = False
    ends: Annotated[
        int | None,
        option(
            "Minimum number of records that the lowest and the highest number of a column rest on.",
            panel="Ends of columns (--method bayes, copula and independent)",
            default="5, or 1 for bayes without smoothing",
            min=1,
        ),
    ] = None
    decode: Annotated[
        Literal["dependent", "interpolate", "uniform"] | None,
        option(
            "How to draw numbers inside a group: where linked numbers make them likely (bayes), "
            "between its quartiles, or evenly (not with cart and copula).",
            default="dependent for bayes with smoothing, else interpolate",
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that were given, by the synthesizers' own names."""
        found = {}
        for parameter, (name, form) in _FORMS.items():
            given = getattr(self, name)
            if given is not None and (value := form.read(given)) not in (None, []):
                found[parameter] = value
        return found


def _read_forms() -> dict[str, tuple[str, Form]]:
    hints = get_type_hints(MethodOptions, include_extras=True)
    found = {}
    for one in fields(MethodOptions):
        notes = hints[one.name].__metadata__
        form = next((note for note in notes if isinstance(note, Form)), _PLAIN)
        found[form.parameter or one.name] = (one.name, form)
    return found


_FORMS = _read_forms()
"""The field and the form of each parameter that has an option."""


def names_of_parameters() -> dict[str, str]:
    """Return the name of the option for each parameter of a synthesizer that has one.

    Examples
    --------
    >>> names_of_parameters()["visit_sequence"]
    'visit'
    """
    return {parameter: option for parameter, (option, _) in _FORMS.items()}


def words_for(method: str, parameters: Mapping[str, object]) -> list[str]:
    """Return the options that ask for a method with some parameters.

    Examples
    --------
    >>> " ".join(words_for("bayes", {"parents": 2, "protect": {"income": "job"}}))
    '--method bayes --parents 2 --protect income:job'
    """
    found = ["--method", method]
    for name, value in parameters.items():
        found += _words(name, value)
    return found


def unsaid(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Return the parameters that are set to something that no option can say.

    Examples
    --------
    >>> unsaid({"minbucket": {"age": 50}, "cp": 0.01, "random_state": 1})
    ('minbucket',)
    """
    return tuple(
        name
        for name, value in parameters.items()
        if name not in _IRRELEVANT and value is not None and not _words(name, value)
    )


def _words(parameter: str, value: object) -> list[str]:
    if parameter in _IRRELEVANT or parameter not in _FORMS:
        return []
    name, form = _FORMS[parameter]
    # An option that needs no text stands alone.
    return [word for text in form.say(value) for word in (spelled(name), text) if word]


@dataclass(frozen=True)
class Source:
    """Where a release is, and how it was made, as far as a command was told.

    Parameters
    ----------
    file : Path, optional
        Its first table; None if it was not kept.
    method : str
        The method that made it here.
    parameters : mapping
        The method's parameters.
    settings : Path, optional
        A file with more of them.
    model : Path, optional
        The file of the fitted model.
    drop : sequence of str
        Columns of the original that it does not have.
    schema : Path, optional
        The file that describes the columns of the original.
    """

    file: options.Place | None = None
    method: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Path | None = None
    model: Path | None = None
    drop: Sequence[str] = ()
    schema: Path | None = None


def describes(model: Synthesizer, original: pl.DataFrame) -> bool:
    """Tell whether the schema of a model fits a table: it may be made from some of its records."""
    if model.n_rows_ == len(original) or is_private(model):
        return True
    try:
        model.schema_.check(
            original.select(name for name in model.schema_.names if name in original.columns)
        )
    except UnderstudyError:
        return False
    return True


def lacking(original: pl.DataFrame, releases: Sequence[pl.DataFrame]) -> list[str]:
    """Return the columns of the original that a release does not have."""
    return [name for name in original.columns if name not in releases[0].columns]


def seed_words(model: Synthesizer) -> list[str]:
    """Return the option that gives another synthesis the seed of a model; none if it has none."""
    return repeated({"seed": model.random_state})


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """A synthesizer, and how much it makes."""

    method: Annotated[
        Method,
        option(
            "bayes: each column given a few others. cart: each column from trees on the columns "
            "before it. copula: all columns from one correlation matrix. marginals: from noisy "
            "tables of a few columns, with --epsilon. independent: each column on its own. random: "
            "any value, equally often.",
            default=True,
        ),
    ] = "bayes"
    schema: options.SchemaFile = None
    privacy: PrivacyFiles
    preparation: Preparation
    rows: Annotated[
        int | None, option("Rows to make.", default="as many as it is made from", min=1)
    ] = None
    copies: options.Copies = 1
    seed: Annotated[
        int | None,
        option(
            "Number that decides the draws. The same number gives the same table.",
            default="a new one, which is shown",
            min=0,
        ),
    ] = None
    settings: Annotated[
        Path | None,
        option("A TOML file with parameters of the method, for all columns or for single ones."),
    ] = None
    parameters: MethodOptions
    drop: options.Drop = ""
    safe_cells: options.SafeCells = False

    @property
    def inputs(self) -> list[Path | None]:
        """The files that these options name, and that no output may replace."""
        return [self.schema, self.settings, self.privacy.public_schema, self.privacy.ledger]

    def synthesizer(self) -> Synthesizer:
        """Return the synthesizer with the parameters that were given, and those of a file.

        If no seed was given, it gets one that nobody can guess.
        """
        import secrets

        from understudy.synthesis import METHODS
        from understudy.synthesis.settings import Settings

        given, cls = self.parameters.parameters(), METHODS[self.method]
        wrong = [spelled(_FORMS[name][0]) for name in given if name not in cls.parameter_names()]
        if "--epsilon" in wrong:
            raise ParameterError(no_epsilon(cls))
        if wrong:
            raise ParameterError(f"{', '.join(wrong)} cannot be used with --method {self.method}.")
        file = Settings.load(self.settings) if self.settings is not None else Settings()
        seed = secrets.randbelow(2**32) if self.seed is None else self.seed
        return set_up(cls, file, given, seed)

    def draw(
        self,
        model: Synthesizer,
        paths: Sequence[Path],
        *,
        overwrite: bool = False,
    ) -> None:
        """Draw a synthetic table into each file, written as the original is."""
        for copy, path in enumerate(paths):
            model.sample_to(
                path, self.rows, copy=copy, overwrite=overwrite, safe_cells=self.safe_cells
            )

    def read_drawn(self, path: Path, read: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
        """Return what others will read in a file that was drawn, without apostrophes put there."""
        from understudy.data.formula_cells import unescaped

        frame = read(path)
        return unescaped(frame) if self.safe_cells else frame

    def source(self, file: Path, model: Path) -> Source:
        """Return how the table in a file was made, for commands that are to be like this one."""
        given, drop = self.parameters.parameters(), options.split_names(self.drop)
        return Source(file, self.method, given, self.settings, model, drop)

    def words(self) -> list[str]:
        """Return the options that another synthesis of the same data is to have, too."""
        again = repeated({"schema": self.schema, "rows": self.rows, "seed": self.seed})
        return [*again, *self.privacy.words(), *self.preparation.words()]

    def prepare(
        self,
        frame: Any,  # noqa: ANN401  # a frame or stream
        described: Schema | None,
        model: Synthesizer,
        units: Sequence[str] = (),
    ) -> Prepared:
        """Return a table as it is to be synthesized, and what its columns are."""
        return self.preparation.apply(frame, described, units, private=is_private(model))

    def described(self) -> Schema | None:
        """Return what the columns are, if that is given, without those that are not wanted."""
        self.preparation.check()
        if self.preparation.group_rare is not None and self.parameters.epsilon is not None:
            raise ParameterError(NO_GROUPS_WITH_NOISE)
        found = self.privacy.schema(self.schema)
        if found is None:
            return None
        return found.drop(*(name for name in options.split_names(self.drop) if name in found))


def set_up(
    cls: type[Synthesizer], settings: Settings, given: Mapping[str, Any], seed: int
) -> Synthesizer:
    """Return a synthesizer with the parameters of a file, and those that were given."""
    if "random_state" in settings.overall:
        raise ParameterError(f"{settings.source}: random_state is given with --seed.")
    return cls(**(settings.parameters(cls, given) | {"random_state": seed}))
