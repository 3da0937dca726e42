"""Utility: what a release still tells about the data that it stands for."""
