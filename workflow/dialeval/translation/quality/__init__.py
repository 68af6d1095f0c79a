"""How good translations are: what is drawn, translated back, judged and computed of it (xDial-Eval, 3.2)."""
