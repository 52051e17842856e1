"""Contract checks of user-defined losses, regularizers, domains and risks.

Each check samples its subject at fixed pseudo-random points and at extreme ones. It returns nothing
when all is well, and otherwise raises an error that says in one line what is wrong, and where.
"""

from stepless.checks.constraint import check_constraint as check_constraint
from stepless.checks.contract import ContractError as ContractError
from stepless.checks.domain import check_domain as check_domain
from stepless.checks.loss import check_loss as check_loss
from stepless.checks.regularizer import check_regularizer as check_regularizer
from stepless.checks.risk import check_risk as check_risk
