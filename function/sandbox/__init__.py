"""An API server and Crossplane's reconcile loop, in memory. Knows no kind of Modelplane."""
