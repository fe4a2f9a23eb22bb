"""Control laws whose model learns."""
