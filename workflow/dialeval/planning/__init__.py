"""Planning of a run: requests, tokens and cost, power, and checks before it starts."""
