"""What every inference cluster needs to serve: charts, and the gateway that they make."""
