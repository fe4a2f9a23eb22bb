"""Bodies, the mounting plane and obstacles, and how far they are from each other."""
