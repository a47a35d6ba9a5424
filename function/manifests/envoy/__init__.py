"""Configurations of Envoy: the proxy of an outside provider, and the proxy of a ModelService.

Fields and defaults are those of Envoy v1.40. The end-to-end tests run every configuration in the real Envoy.

- `places`: ports, directories and files, as pods and configuration share them
- `language`: how Envoy's configuration is written, and a connection manager of ours
- `secrets`: keys and certificates that Envoy reads from mounted Secrets
- `addresses`: addresses to which no proxy connects
- `upstream`: one server behind a proxy: where it is, how its requests are rewritten, and how it is trusted
- `egress`: the proxy of one ModelEndpoint
- `service`: the proxy of a ModelService. `front`, `routes`, `retries`, `balancing` and `endpoint` lead requests,
  `access`, `callers`, `limits` and `usage` say who may call and record it, and `health` answers probes
- `scripts`, `provider_key`: keys that scripts read
"""
