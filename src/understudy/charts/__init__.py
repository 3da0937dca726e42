"""Drawings that need no findings of an audit: the chart itself, its colours, the number line."""
