"""How judges' scores agree with people's ratings: correlations, ceilings, rankings, ensembles."""
