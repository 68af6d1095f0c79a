"""The evaluation protocols: what the papers ask under which name, in the forms that this room reads and plans."""
