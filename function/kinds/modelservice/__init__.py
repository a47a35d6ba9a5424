"""One OpenAI-compatible URL over the endpoints that labels select."""
