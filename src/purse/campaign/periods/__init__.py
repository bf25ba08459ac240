"""Budgets that are renewed every day, week, month or few hours."""
