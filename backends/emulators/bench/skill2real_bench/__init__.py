"""The emulated bench: the MuJoCo twin in real time, as the plant of the emulated controller, gripper and
cameras."""
