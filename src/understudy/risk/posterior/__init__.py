"""The strong attacker: one who knows the synthesizer, and every record but one."""
