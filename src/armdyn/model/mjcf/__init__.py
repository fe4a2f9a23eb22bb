"""MJCF files of MuJoCo: read, written, and changed in place."""
