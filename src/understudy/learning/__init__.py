"""Classifiers that attacks and measures of use share, and the processes that train them."""
