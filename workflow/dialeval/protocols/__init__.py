"""The evaluation protocols: a module for each form, with its planned requests and parsed answers."""
