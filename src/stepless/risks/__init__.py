"""Convex risks: what is minimised beside the penalty.

`risk.py` has the contract, `linear_risk.py` and `joint_risk.py` the mean of a loss over examples,
`kernel_risk.py` that of a kernel expansion, `oracle_risk.py` the base of all others: `metrics/`,
`ranking/` and `chains/` hold one kind each, with a registry of names in their `__init__.py`.
"""
