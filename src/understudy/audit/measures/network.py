"""The network of the model that made a release."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import NetworkFindings
from understudy.audit.measures.declaration import BIG_DATA, Collected, Explanation, Measure, Part
from understudy.audit.synthesis import Synthesis
from understudy.synthesis import BayesNet, Synthesizer


def network_of(model: Synthesizer | None) -> NetworkFindings | None:
    """Return the network of a model that has one."""
    if not isinstance(model, BayesNet):
        return None
    shown = model.of_records
    return NetworkFindings(
        order=shown.columns_of_network,
        edges=tuple(
            (parent, child, float(bits)) for parent, child, bits in shown.edge_information()
        ),
        protected=tuple({**(model.protect or {}), **(model.protect_from or {})}),
    )


def _collect(_first: Synthesis, found: Sequence[NetworkFindings | None]) -> Collected:
    return Collected(release={"network": found[0]})


NETWORK = Measure(
    "network",
    "describing the network",
    lambda synthesis: network_of(synthesis.given.model),
    _collect,
    needed=lambda _task, given: isinstance(given.model, BayesNet),
    needs="the model that made the release",
    first_only=True,
    found=lambda release: release.network,
    explanation=Explanation(
        "The network",
        "The model draws columns one after the other, each from those with an arrow to it. The "
        "bits at an arrow are the mutual information of its two columns.",
        BIG_DATA,
    ),
    part=Part("network", "The network", 10),
    of_units="all records",
    place=160,
)
