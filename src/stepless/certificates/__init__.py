"""Lower bounds on the optimum: how far an answer is from the best one."""

from stepless.certificates.aggregate import Aggregate as Aggregate
from stepless.certificates.certifier import Certifier as Certifier
from stepless.certificates.curved_planes import CurvedPlanes as CurvedPlanes
from stepless.certificates.excess_risk import excess_risk_bound as excess_risk_bound
from stepless.certificates.general_planes import GeneralPlanes as GeneralPlanes
from stepless.certificates.planes import Planes as Planes
from stepless.certificates.polyhedral_planes import PolyhedralPlanes as PolyhedralPlanes
