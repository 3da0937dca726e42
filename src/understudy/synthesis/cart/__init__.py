"""CART: each column drawn from the leaves of a tree on the columns before it."""

from understudy.synthesis.cart.model import Cart, TreeSummary

__all__ = ["Cart", "TreeSummary"]
