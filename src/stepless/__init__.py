"""Stepless."""
