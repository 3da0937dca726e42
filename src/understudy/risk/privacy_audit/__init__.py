"""The audit of privacy: tries to disprove an epsilon, exactly where it can be computed."""

from understudy.effort import Effort
from understudy.risk.privacy_audit.audit import audit_privacy
from understudy.risk.privacy_audit.result import PrivacyAudit, Tried

__all__ = ["Effort", "PrivacyAudit", "Tried", "audit_privacy"]
