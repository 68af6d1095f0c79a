"""What a run would ask of each model, told before anything is asked: requests, tokens and cost as ranges."""
