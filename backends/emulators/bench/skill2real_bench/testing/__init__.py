"""Helpers of the bench's tests."""
