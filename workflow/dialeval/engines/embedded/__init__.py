"""Embedded models: small chatbots and judges that need no weights, for trying the workflow and as baselines."""
