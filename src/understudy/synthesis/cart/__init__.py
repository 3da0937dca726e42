"""CART: each column drawn from the leaves of a tree on the columns before it."""

from understudy.synthesis.cart.model import Cart
from understudy.synthesis.cart.recipe import TreeSummary

__all__ = ["Cart", "TreeSummary"]
