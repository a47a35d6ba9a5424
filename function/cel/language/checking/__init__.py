"""What is wrong with a tree before it runs."""
