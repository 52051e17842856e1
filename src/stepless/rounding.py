"""The unit of rounding errors."""

UNIT = 2.0**-53  # relative error of one operation on doubles, at most
