"""URDF files: read, written, and changed in place."""
