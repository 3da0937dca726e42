"""Panels: tables in which people, households or firms have several records each."""
