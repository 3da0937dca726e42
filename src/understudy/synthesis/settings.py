"""Parameters of a synthesizer from a TOML file, for all columns and for single ones.

The names of a synthesizer's parameters stand at the top; a table ``[columns.NAME]`` holds those
that one column has for itself::

    minbucket = 10
    rules = ["if marital == 'single' then years_married = 0"]

    [columns.income]
    minbucket = 50
    smoothing = "density"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy.errors import ParameterError, did_you_mean
from understudy.synthesis.base import Synthesizer
from understudy.toml_file import read_toml

_COLUMNS = "columns"


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

    def parameters(self, method: type[Synthesizer], given: Mapping[str, Any]) -> dict[str, Any]:
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
                found[name] = {**ours, "*": theirs}
        single: dict[str, dict[str, Any]] = {}
        for column, own in self.columns.items():
            for name, value in own.items():
                single.setdefault(name, {})[column] = value
        for name, values in single.items():
            overall = found.get(name)
            if isinstance(overall, Mapping):
                values = dict(overall) | values  # noqa: PLW2901  # both forms may be used together
            elif overall is not None:
                values = {"*": overall} | values  # noqa: PLW2901
            found[name] = values
        return found

    def _check(self, method: type[Synthesizer]) -> None:
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
