"""All limits of one endpoint together: requests under way, speed, and when it is given up."""
