"""A usual pod template as users paste it: init container, sidecar, helper, volumes, an own port, and a GPU limit."""

from __future__ import annotations

from typing import Any

import yaml

GPU = "spec.containers.0.resources.limits"
TEMPLATE: dict[str, Any] = yaml.safe_load("""
metadata: {annotations: {prometheus.io/scrape: "true"}}
spec:
  initContainers:
  - name: warm
    image: busybox:1.37
    command: [sh, -c, "mkdir -p /scratch/compile"]
    volumeMounts: [{name: scratch, mountPath: /scratch}]
  - name: log-shipper
    restartPolicy: Always
    image: fluent/fluent-bit:4.0
    volumeMounts: [{name: scratch, mountPath: /scratch}]
  containers:
  - name: server
    image: vllm/vllm-openai:v0.23.0
    command: [vllm, serve, org/model]
    envFrom: [{secretRef: {name: hub}}, {configMapRef: {name: flags}}]
    ports: [{name: http, containerPort: 8200}]
    readinessProbe: {httpGet: {path: /health, port: http}}
    lifecycle: {preStop: {exec: {command: [sleep, "20"]}}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {cpu: "8", memory: 32Gi, nvidia.com/gpu: "1", rdma/hca: "1"}}
    volumeMounts:
    - {name: scratch, mountPath: /root/.cache}
    - {name: chat-template, mountPath: /templates}
    - {name: license, mountPath: /license, readOnly: true}
    - {name: models, mountPath: /models, readOnly: true}
  - {name: metrics, image: quay.io/prometheus/node-exporter:v1.9.1, args: ["--web.listen-address=:9400"]}
  volumes:
  - {name: scratch, emptyDir: {sizeLimit: 50Gi}}
  - {name: chat-template, configMap: {name: chat-template}}
  - {name: license, secret: {secretName: license}}
  - {name: models, persistentVolumeClaim: {claimName: models}}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: fields}}}
""")
