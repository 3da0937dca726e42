"""The papers' tables and figures, each made by one command: ``python -m studies --help``."""
