"""Every table and figure of the three papers, beside what they print."""
