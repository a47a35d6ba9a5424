"""`python -m function`: the same as `modelplane`."""

from function.main import main

main()
