"""What Envoy Gateway's chart installs once and Helm never upgrades."""
