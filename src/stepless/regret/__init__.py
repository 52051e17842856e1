"""Regret, measured, beside what the theorems promise on the same run."""

from stepless.regret.ledger import RegretLedger
from stepless.regret.play import regret_ledger

__all__ = ["RegretLedger", "regret_ledger"]
