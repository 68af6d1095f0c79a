"""How fast an endpoint is asked: within what is configured, what it announces, and what its refusals tell."""
