"""What policies are made of: random numbers, fast mathematics, weights, index rules."""
