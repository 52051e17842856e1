"""Solvers that sample the examples of a finite sum."""
