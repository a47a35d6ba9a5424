"""Why an object is not as its spec asks: the cause first, what rejects or waits because of it, and what would help.

- `references`: what an object names and nobody has.
- `steps`: changes as edits of a store. `trials`: a change on a copy of the fleet. `remedies`: which changes help.
- `deployments`: a ModelDeployment. `objects`: any other kind.
"""
