"""Lower bounds on the optimum: how far an answer is from the best one."""

from stepless.certificates.aggregate import Aggregate
from stepless.certificates.certifier import Certifier
from stepless.certificates.curved_planes import CurvedPlanes
from stepless.certificates.excess_risk import excess_risk_bound
from stepless.certificates.general_planes import GeneralPlanes
from stepless.certificates.planes import Planes
from stepless.certificates.polyhedral_planes import PolyhedralPlanes

__all__ = [
    "Aggregate",
    "Certifier",
    "CurvedPlanes",
    "GeneralPlanes",
    "Planes",
    "PolyhedralPlanes",
    "excess_risk_bound",
]
