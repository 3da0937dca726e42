"""Differential privacy: noise from OpenDP, the ledger of what it cost, and public domains."""

from understudy.privacy.accountant import Accountant
from understudy.privacy.guarantee import BudgetError, Guarantee, Neighbours, read_guarantee
from understudy.privacy.ledger import Entry, Ledger
from understudy.privacy.noise import MissingPrivacyError
from understudy.privacy.table_ledger import Account, TableLedger, pay

__all__ = [
    "Account",
    "Accountant",
    "BudgetError",
    "Entry",
    "Guarantee",
    "Ledger",
    "MissingPrivacyError",
    "Neighbours",
    "TableLedger",
    "pay",
    "read_guarantee",
]
