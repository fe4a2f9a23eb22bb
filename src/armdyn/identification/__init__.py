"""Identification: logs in, models with honest confidence out."""
