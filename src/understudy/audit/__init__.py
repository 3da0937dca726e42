"""The audit of a release: all measures of risk and utility, the verdict, and the gate."""
