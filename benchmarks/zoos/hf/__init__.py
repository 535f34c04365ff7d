"""Models of Hugging Face transformers, small ones, one file per kind."""
