"""Helpers of the emulated gripper's tests."""
