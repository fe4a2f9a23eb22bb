"""ROS 2 packages of an arm's dynamics and control law."""
