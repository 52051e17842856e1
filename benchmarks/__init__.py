"""Measurements, as ratios within one run. `make bench` runs them all; each runs alone as well."""
