"""The evaluation protocols: what the papers ask under which name, in the forms of `dialeval.forms`."""
