#!/bin/sh
# The entrypoint of the image. Options alone are those of `serve`: Crossplane starts a function without arguments
# (crossplane v2.4, internal/controller/pkg/runtime), a DeploymentRuntimeConfig adds options, and `crossplane render`
# gives --insecure (cli v2.5, render/runtime_docker.go). Anything else is a command.
case "${1-}" in
"" | -*) exec modelplane serve "$@" ;;
*) exec modelplane "$@" ;;
esac
