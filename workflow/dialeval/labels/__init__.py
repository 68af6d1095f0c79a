"""Human labels: sampling, labelling pages, reading labels, and human-corrected estimates."""
