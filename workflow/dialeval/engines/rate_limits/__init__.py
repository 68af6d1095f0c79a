"""Limits of an endpoint: requests in flight, requests and tokens a minute, and waiting after a 429."""
