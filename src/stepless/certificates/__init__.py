"""Lower bounds on the optimum: how far an answer is from the best one."""

from stepless.certificates.planes import Planes
from stepless.certificates.certifier import Certifier

__all__ = ["Certifier", "Planes"]
