"""Parameters of a synthesizer: as scikit-learn has them, and from a TOML file.

In a file, the names of a synthesizer's parameters stand at the top; a table ``[columns.NAME]``
holds those that one column has for itself::

    minbucket = 10
    rules = ["if marital == 'single' then years_married = 0"]

    [columns.income]
    minbucket = 50
    smoothing = "density"
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from understudy.errors import ParameterError, did_you_mean, unknown_columns
from understudy.toml_file import read_toml

Setting = TypeVar("Setting")
PerColumn: TypeAlias = Setting | Mapping[str, Setting]

OTHERS = "*"
"""In a mapping of settings, stands for all columns that it does not name."""

_COLUMNS = "columns"


class Parametrized:
    """A class whose constructor arguments are its parameters, stored under the same names."""

    per_column: ClassVar[tuple[str, ...]] = ()
    """The parameters that can be given for single columns, as a mapping."""

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters, in the order of the constructor."""
        return tuple(name for name in inspect.signature(cls).parameters if name != "self")

    @classmethod
    def no_parameter(cls, name: str) -> str:
        """Return the sentence that there is no such parameter, with those that there are."""
        names = cls.parameter_names()
        listed = ", ".join(names)
        return (
            f"{cls.__name__} has no parameter {name!r}; it has {listed}.{did_you_mean(name, names)}"
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's form
        """Return the parameters that the synthesizer was made with."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401  # any parameter
        """Change parameters; they count from the next `fit` on."""
        for name, value in params.items():
            if name not in self.parameter_names():
                raise ParameterError(self.no_parameter(name))
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """Return an unfitted synthesizer with the same parameters."""
        return type(self)(**self.get_params())

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(frozen=True)
class Settings:
    """Parameters as a file gives them.

    Parameters
    ----------
    overall : dict
        Values for all columns, by parameter.
    columns : dict
        Values for single columns: a dict of parameters for each.
    source : str
        Where they come from, for messages.
    """

    overall: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    source: str = "settings"

    @classmethod
    def load(cls, path: str | Path) -> Settings:
        """Read a TOML file."""
        content = read_toml(path)
        columns = content.pop(_COLUMNS, {})
        if not isinstance(columns, dict) or not all(isinstance(v, dict) for v in columns.values()):
            raise ParameterError(
                f"{path}: settings of a column must be a table, such as [columns.age]; "
                f"got {_COLUMNS} = {columns!r}."
            )
        return cls(content, columns, str(path))

    def parameters(self, method: type[Parametrized], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a synthesizer: those `given` count more than the file's.

        What the file says of a single column counts more than what is given for all.

        Raises
        ------
        ParameterError
            If the synthesizer has no such parameter, or not for single columns.
        """
        self._check(method)
        found = dict(self.overall) | dict(given)
        for name in method.per_column:
            ours, theirs = self.overall.get(name), given.get(name)
            if isinstance(ours, Mapping) and theirs is not None and name != "predictors":
                found[name] = {**ours, OTHERS: theirs}
        single: dict[str, dict[str, Any]] = {}
        for column, own in self.columns.items():
            for name, value in own.items():
                single.setdefault(name, {})[column] = value
        for name, values in single.items():
            # Both forms may be used together.
            others = found.get(name)
            if not isinstance(others, Mapping):
                others = {} if others is None else {OTHERS: others}
            found[name] = {**others, **values}
        return found

    def _check(self, method: type[Parametrized]) -> None:
        for name in self.overall:
            if name not in method.parameter_names():
                raise ParameterError(f"{self.source}: {method.no_parameter(name)}")
        for column, own in self.columns.items():
            for name in own:
                if name not in method.per_column:
                    allowed = ", ".join(method.per_column) or "none"
                    raise ParameterError(
                        f"{self.source}: {name!r} cannot be set for the column {column!r} alone. "
                        f"Parameters of {method.__name__} that can: {allowed}."
                        f"{did_you_mean(name, method.per_column)}"
                    )


def settings_of(
    setting: PerColumn[Setting], names: Sequence[str], standard: Setting, argument: str
) -> dict[str, Setting]:
    """Return the setting of each column, from one for all or a mapping.

    Examples
    --------
    >>> settings_of({"age": 10, "*": 7}, ["age", "sex"], 5, "minbucket")
    {'age': 10, 'sex': 7}
    """
    if not isinstance(setting, Mapping):
        return dict.fromkeys(names, setting)
    named = [name for name in setting if name != OTHERS or OTHERS in names]
    if problems := unknown_columns(named, names):
        raise ParameterError(f"{argument}: {' '.join(problems)}")
    others = setting.get(OTHERS, standard)
    return {name: setting.get(name, others) for name in names}


def columns_named(settings: Iterable[object], names: Collection[str]) -> set[str]:
    """Return the columns that settings name, wherever these stand in them.

    Examples
    --------
    >>> sorted(columns_named([{"age": "sex"}, [("job", "pay")], 3], ["age", "job", "pay", "sex"]))
    ['age', 'job', 'pay', 'sex']
    """
    found: set[str] = set()
    for setting in settings:
        if isinstance(setting, str):
            found |= {setting} & set(names)
        elif isinstance(setting, Mapping):
            found |= columns_named([*setting, *setting.values()], names)
        elif isinstance(setting, Iterable):
            found |= columns_named(setting, names)
    return found
