"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, which takes a moment to be loaded."""
    try:
        from understudy.cli.commands import main as run
    except KeyboardInterrupt:
        sys.stderr.write("Stopped; nothing was written.\n")
        sys.exit(130)
    run()


__all__ = ["main"]
