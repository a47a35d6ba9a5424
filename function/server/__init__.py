"""The gRPC server that Crossplane calls: TLS, workers, health, metrics and the log."""
