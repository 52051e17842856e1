"""Lower bounds on the optimum: how far an answer is from the best one."""

from stepless.certificates.bundle import Bundle
from stepless.certificates.certifier import Certifier

__all__ = ["Bundle", "Certifier"]
