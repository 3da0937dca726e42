"""The experiments of the papers that understudy builds on: each table is one function."""
