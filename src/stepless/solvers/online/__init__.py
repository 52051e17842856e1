"""Online solvers: examples are learned one after the other."""
