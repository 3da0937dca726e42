"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

from understudy.cli.commands import app, main

__all__ = ["app", "main"]
