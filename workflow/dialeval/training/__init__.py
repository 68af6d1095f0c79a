"""Training of judges: what every kind of training shares, and how language models learn to judge by an adapter."""
