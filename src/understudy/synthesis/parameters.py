"""Parameters as scikit-learn has them, without importing it."""

from __future__ import annotations

import inspect
from typing import Any, Self

from understudy.errors import ParameterError, did_you_mean


class Parametrized:
    """A class whose constructor arguments are its parameters, stored under the same names."""

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
