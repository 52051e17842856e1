"""The unit in which rounding is counted."""

UNIT = 2.0**-53  # relative error of one operation on doubles, at most
