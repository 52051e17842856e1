"""Every constraint function keeps its contract, and one that does not is told so in one line."""

import math

import numpy as np
import pytest

from stepless import (
    Box,
    Constraint,
    ContractError,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
    PSDCone,
    Simplex,
    Spectrahedron,
    check_constraint,
)
from stepless.objective import DOMAINS

PARAMETERS = {"box": [(-1.0, 2.0)], "lp_ball": [(3.0, 1.2)], "l1_ball": [(1e-4,), (2.0,)]}
MEMBERS = [
    kind(*values)
    for name, kind in DOMAINS.items()
    for values in PARAMETERS.get(name, [()])
    if kind.offers("excess", "outward") and name != "free"  # all of R^d has no boundary
]


class Ball(Constraint):
    def excess(self, w):
        return math.sqrt(np.sum(w * w)) - 1.0

    def outward(self, w, g):
        size = math.sqrt(np.sum(w * w))
        for j in range(w.size):
            g[j] = w[j] / size if size > 0.0 else 0.0
        return size - 1.0

    def radius(self):
        return 1.0


@pytest.mark.parametrize("domain", [*MEMBERS, Ball()], ids=repr)
def test_contract(domain):
    check_constraint(domain)


def test_contract_of_given_numbers_of_weights():
    check_constraint(Spectrahedron(2.0), 25)
    check_constraint(PSDCone(), 9)
    check_constraint(Polytope.of(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6)), 3)


def test_which_domains_have_a_constraint_function():
    kinds = (L1Ball, L2Ball, LpBall, Box, Nonnegative, Polytope, Spectrahedron, PSDCone, Ball)
    assert all(kind.offers("excess", "outward") for kind in kinds)
    assert not Simplex.offers("excess")


class WrongSlope(Ball):
    def outward(self, w, g):
        for j in range(w.size):
            g[j] = 0.9 * w[j] / math.sqrt(np.sum(w * w))
        return self.excess(w)


class Uphill(Ball):
    def outward(self, w, g):
        for j in range(w.size):
            g[j] = -w[j]
        return self.excess(w)


class OtherNumber(Ball):
    def outward(self, w, g):
        g[:] = w
        return 0.0


class Silent(Ball):
    def outward(self, w, g):
        g[:] = w


class Bent(Ball):
    def excess(self, w):
        return math.sqrt(math.sqrt(np.sum(w * w))) - 1.0

    def outward(self, w, g):
        g[:] = 0.0
        return self.excess(w)


class Blank(Ball):
    def outward(self, w, g):
        g[:] = np.nan
        return self.excess(w)


class TooSmall(Ball):
    def radius(self):
        return 0.3


class AnotherSet(Ball):
    def project(self, w):
        w *= 0.5 / max(math.sqrt(np.sum(w * w)), 0.5)


class LeavesOutside(Ball):
    def project(self, w):
        w *= 2.0 / max(math.sqrt(np.sum(w * w)), 2.0)


class Uncompilable(Ball):
    def excess(self, w):
        return Ball().excess(w)


BROKEN = [
    (WrongSlope(), r"^WrongSlope\.outward at .* writes .*, which is no subgradient: at .* the "),
    (Uphill(), r"^Uphill\.outward at .*, which is no subgradient"),
    (OtherNumber(), r"^OtherNumber\.outward returns 0\.0 at .*, but the excess there is"),
    (Silent(), r"^Silent\.outward returns None at"),
    (Bent(), r"^Bent\.excess is not convex: between .* and .* it is .*, above the chord's"),
    (Blank(), r"^Blank\.outward writes \(nan, "),
    (
        TooSmall(),
        r"^TooSmall\.radius\(\) is 0\.3, but .*, which is in the domain, has length 0\.303",
    ),
    (AnotherSet(), r"^AnotherSet\.excess at .* is .*, inside, but project moves it to"),
    (LeavesOutside(), r"^LeavesOutside\.project takes .* to .*, where the excess is .*, outside"),
    (Uncompilable(), r"^Uncompilable(\.excess)? cannot be compiled: "),
    (Simplex(), r"^Simplex has no method excess, which a constraint needs"),
    (L2Ball, r"needs a Domain, such as L1Ball\(1\.0\), not the class L2Ball"),
]


@pytest.mark.parametrize(("domain", "message"), BROKEN, ids=[str(d) for d, _ in BROKEN])
def test_broken_constraints_are_caught_in_one_line(domain, message):
    with pytest.raises(ContractError, match=message) as caught:
        check_constraint(domain)
    assert "\n" not in str(caught.value)
