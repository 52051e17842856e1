"""Regret, measured, beside what the theorems promise on the same run."""

from stepless.regret.ledger import RegretLedger as RegretLedger
from stepless.regret.play import regret_ledger as regret_ledger
