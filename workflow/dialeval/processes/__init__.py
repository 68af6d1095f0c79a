"""The processes of a run and of its jobs: what they are told, how they end, what they say, what they load."""
