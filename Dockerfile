# syntax=docker/dockerfile:1
# The function's image: CPython, what requirements-image.lock names (requirements.lock, and the clients of the hub, of
# S3 and of Kubernetes), and nothing else. It runs as Crossplane runs functions (crossplane v2.3: uid and gid 2000,
# certificates in /tls/server), as the Job that stages a ModelCache, as the observer of an inference cluster, and as the
# command line (package/entrypoint.sh).
#
#   docker build -t function-modelplane .
#   docker run --rm -i function-modelplane plan - < fleet.yaml
#   docker save -o dist/image.tar function-modelplane && make package IMAGE=dist/image.tar

# By tag, which moves with Python's and Debian's fixes. A release names the digest that it was built from
# (docs/release.md): --build-arg BASE=python:3.13-slim-trixie@sha256:…
ARG BASE=python:3.13-slim-trixie

FROM ${BASE} AS build
WORKDIR /build
COPY requirements-image.lock .ci/build.lock ./
RUN python -m venv /opt/modelplane \
 && /opt/modelplane/bin/python -m pip install --no-cache-dir --require-hashes -r requirements-image.lock
RUN python -m venv /opt/build \
 && /opt/build/bin/python -m pip install --no-cache-dir --require-hashes -r build.lock
COPY pyproject.toml README.md LICENSE ./
COPY function ./function
RUN /opt/build/bin/python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /build/dist . \
 && /opt/modelplane/bin/python -m pip install --no-cache-dir --no-deps /build/dist/*.whl \
 && /opt/modelplane/bin/python -m pip uninstall --yes pip \
 && /opt/modelplane/bin/python -m compileall -q /opt/modelplane

FROM ${BASE}
LABEL org.opencontainers.image.title="function-modelplane" \
      org.opencontainers.image.description="Serves AI models on fleets of GPU clusters" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/modelplane /opt/modelplane
COPY --chmod=0755 package/entrypoint.sh /usr/local/bin/function-modelplane
# Probes and metrics: Crossplane names this port of a function's container `metrics` (crossplane v2.4, internal/
# controller/pkg/runtime). Only `serve` reads the variable.
# glibc gives freed memory back at once, and fetches it again for the next large request: keep it (malloc.h).
ENV PATH="/opt/modelplane/bin:$PATH" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HTTP_ADDRESS=:8080 \
    MALLOC_TRIM_THRESHOLD_=536870912 \
    MALLOC_MMAP_THRESHOLD_=536870912 \
    MALLOC_ARENA_MAX=2
USER 2000:2000
WORKDIR /tmp
EXPOSE 9443 8080
ENTRYPOINT ["function-modelplane"]
