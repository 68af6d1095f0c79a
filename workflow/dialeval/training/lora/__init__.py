"""Language models that learn to judge by a low-rank adapter (xDial-Eval, section 5 and appendix F)."""
