"""The charts of the report, one module for each kind; they show findings and compute nothing."""
