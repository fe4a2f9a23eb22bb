"""Programs that are copied to a robot's computer: they need ROS 2, not armdyn."""
