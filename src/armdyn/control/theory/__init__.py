"""What laws and designs rest on: gains of loops, Riccati's equations, Lyapunov functions."""
