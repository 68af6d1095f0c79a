"""How judges learn: the pairs that they learn from, and their training (xDial-Eval, sections 4 and 5)."""
