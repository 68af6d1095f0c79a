"""Limits of an endpoint: requests in flight, requests and tokens a minute, and the pause of all after a 429."""
