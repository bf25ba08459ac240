"""A policy in memory that is asked for arms and told what they returned."""
