"""What is installed by Crossplane, and how it is packed."""
