"""A cluster of the fleet: provisioned or brought along, with its node pools and serving stack."""
