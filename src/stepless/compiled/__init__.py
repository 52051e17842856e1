"""Compiled loops that more than one solver uses."""
