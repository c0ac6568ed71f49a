"""Helpers of tests and benches; nothing of a served world imports them."""
