"""Lower bounds on the optimum: how far an answer is from the best one."""

from stepless.certificates.aggregate import Aggregate
from stepless.certificates.certifier import Certifier
from stepless.certificates.fenchel import Point, Slopes, fenchel
from stepless.certificates.planes import Planes

__all__ = ["Aggregate", "Certifier", "Planes", "Point", "Slopes", "fenchel"]
