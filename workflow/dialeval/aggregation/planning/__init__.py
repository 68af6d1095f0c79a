"""What a design can show before it is run: of judges, and of people."""
