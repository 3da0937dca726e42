"""Risk: what an attacker learns from a release, beyond what is known without it."""
