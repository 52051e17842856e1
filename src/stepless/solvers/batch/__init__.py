"""Batch solvers: a step reads all examples."""
