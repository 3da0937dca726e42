"""Changes to the pages while the site is built.

Docstrings are numpydoc, written for ``help()`` as well; what Markdown does not know of that is put
into plain form here.
"""

from __future__ import annotations

import re
from typing import Any

_MATH = re.compile(r":math:(?=<code>)")
_CITATION = re.compile(r"(?<=\[\d\])_(?=\W)")
_FIRST_REFERENCE = re.compile(r"(?<=<p>)\.\. (?=\[\d\])")
_REFERENCE = re.compile(r"\n\.\. (?=\[\d\])")


def on_page_content(html: str, **_: Any) -> str:  # noqa: ANN401  # whatever mkdocs passes
    """Show formulas as code, and references without their markup."""
    for pattern in (_MATH, _CITATION, _FIRST_REFERENCE):
        html = pattern.sub("", html)
    return _REFERENCE.sub("<br>", html)
