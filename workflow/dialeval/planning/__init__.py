"""What is known of a model without asking it, and assumed lengths of its answers."""
