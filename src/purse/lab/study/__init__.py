"""Studies: many policies on many worlds and budgets, in shards that survive interruptions."""
