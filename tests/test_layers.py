"""The library does not speak the words of the command line; `make lint` holds who imports whom."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "understudy"
MODULES = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in {"cli", "app", "__main__.py"}
]
# An option, which a variable of a stylesheet is not, or a command with what follows it; its name
# alone is that of a file format.
WORDS = re.compile(
    r"(?<![-\w])(?<!var\()--[a-z][a-z-]*"
    r"|\bunderstudy (?:attack|audit|compare|run|schema|synth|worlds)(?= )"
)


def spoken(tree):
    """Yield the texts of a module with their lines, without its docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and id(node) not in docstrings:
            yield node.lineno, node.value


def words(code):
    """Return the words of the command line that a module holds."""
    return [
        f"line {line}: {found}"
        for line, text in spoken(ast.parse(code))
        for found in WORDS.findall(text)
    ]


def test_only_the_command_line_speaks_of_options_and_commands():
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    assert len(texts) > 300
    # Docstrings may name them, so only modules that do are parsed.
    found = {path: words(text) for path, text in texts.items() if WORDS.search(text)}
    assert {path.relative_to(SOURCE).as_posix(): said for path, said in found.items() if said} == {}


def test_options_and_commands_are_found_and_css_is_not():
    code = '''
def f():
    """Docstrings may name `--seed`."""
    print("Give --seed", f"run understudy synth {x} --method {y}")
    return "--- -- a--b var(--ink) understudy: a word"
'''
    assert words(code) == ["line 4: --seed", "line 4: understudy synth", "line 4: --method"]
