"""k, l and t of the keys' classes, in the original and in the release."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import AnonymityFindings
from understudy.audit.measures.declaration import Collected, Explanation, Measure, Part, mean
from understudy.audit.synthesis import Synthesis
from understudy.risk.anonymity import Anonymity, anonymity_of

Pair = tuple[Anonymity, Anonymity]


def findings_of(found: Sequence[Pair]) -> AnonymityFindings:
    """Return k, l and t over the syntheses."""
    original = found[0][0]
    return AnonymityFindings(
        k_original=float(original.k),
        k_synthetic=mean(synthetic.k for _, synthetic in found),
        l_original=float(original.l),
        l_synthetic=mean(synthetic.l for _, synthetic in found),
        t_original=float(original.t),
        t_synthetic=mean(synthetic.t for _, synthetic in found),
    )


def _collect(_first: Synthesis, found: Sequence[Pair]) -> Collected:
    return Collected(release={"anonymity": findings_of(found)})


ANONYMITY = Measure(
    "anonymity",
    "counting classes of keys",
    lambda synthesis: anonymity_of(synthesis.prepared),
    _collect,
    level="standard",
    numbers={
        "anonymity": tuple(f"{of}_{table}" for of in "klt" for table in ("original", "synthetic"))
    },
    values=lambda release: [("anonymity", release.anonymity)],
    found=lambda release: release.anonymity,
    explanation=Explanation(
        "k, l and t",
        "People with the same keys are a class. k is the size of the smallest class, l the fewest "
        "sensitive values in a class, and t the largest distance between the sensitive values of "
        "a class and those of everybody.",
        "Sweeney (2002), doi:10.1142/S0218488502001648; Machanavajjhala and others (2007), "
        "doi:10.1145/1217299.1217302; Li, Li, Venkatasubramanian (2007), "
        "doi:10.1109/ICDE.2007.367856",
    ),
    part=Part("anonymity", "k, l and t", 5),
    place=90,
)
