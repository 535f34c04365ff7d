"""The networks of diffusers, by kind."""
