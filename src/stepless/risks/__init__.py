"""Risks that are no sum of a loss over examples, one a folder."""
