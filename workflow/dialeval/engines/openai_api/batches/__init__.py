"""OpenAI's Batch API: requests are handed over in files and answered within a day, at a lower price."""
