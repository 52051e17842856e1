"""Slow, dense transcriptions of the papers' algorithms, against which Stepless is tested.

Written from the papers alone, without a look at the library: plain numpy, one
line per printed equation, its number beside it. Keys (DLF, SVL) as in `docs/papers.md`.

    online.py   DLF Alg. 1, 2, 3 and the adaptive method of Bartlett et al.; regret and its bounds
    batch.py    SVL Alg. 1 and section 5; DLF Alg. 4; the bundle's lower bound; true optima

A loss is a pair (value, slope) of Python functions of a prediction z and a target y, both scalar;
`batch.scalar_loss` makes the usual ones. There is no intercept, save in `batch.optimum`.
"""
