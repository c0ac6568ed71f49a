"""Emulated Pika gripper: a pseudo-terminal with the device's bytes, before a motor or the bench's jaw."""
