"""The observer of an inference cluster: what its nodes really have, who holds it, and why pods of engines do not run.

`modelplane observe` runs as a Deployment of one on the cluster and reads objects as they change. It writes three kinds
of ConfigMaps in its own namespace (`function.vocabulary.observation`), each at most once in ten seconds.

What the program needs:

- Command: `modelplane observe [--namespace modelplane-system] [--address 0.0.0.0:8081]`, from the function's image.
- Credentials: the service account of its pod. KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, as in every pod.
- Probes on the port of `--address`: liveness `/healthz`, readiness `/readyz` (`health`).
- get, list and watch, in the whole cluster: nodes, pods, events (core); resourceslices, resourceclaims
  (resource.k8s.io); replicasets, statefulsets (apps); leaderworkersets (leaderworkerset.x-k8s.io).
- get, list and watch of the ConfigMap cluster-autoscaler-status in kube-system. A Role with resourceNames allows it:
  the list has a field selector with that name.
- get, list, watch, create and update of ConfigMaps in its own namespace.
- No Secrets, and no other right to write.
- Memory: about 60 MiB, and 30 MiB for each 1,000 nodes with 20,000 pods. SIGTERM ends it at once. It keeps no state.

A kind that is forbidden or missing is told in the log and in `missing` of each observation; the others are observed.

Layers, each importing only those below it:

- `service`: what runs, and when. `health`: the probes. `once`: one reading for people.
- `watching`, `client`, `view`: lists and watches. `stored`, `kinds`: which objects.
- `texts`: what is written. `observation`, `bounds`, `reasons`, `autoscaler`, `unclaimed`: its parts. They are pure.
- `inventory`, `matching`, `shapes`, `declaration`: the records joined and compared.
- `reading`, `troubles`, `wording`, `amounts`, `records`: objects of others become records. No function raises.
"""
