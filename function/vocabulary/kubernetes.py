"""Names that Kubernetes itself gives a meaning."""

FOREGROUND = "foregroundDeletion"
"""Finalizer of an object that waits for its dependents to be gone (kubernetes v1.36, apimachinery meta/v1).

On an object that is not being deleted, it tells the garbage collector how to delete it once its owner is gone
(kubernetes v1.36, pkg/controller/garbagecollector, attemptToDeleteItem). A deletion that names another policy removes
it (apiserver/pkg/registry/generic/registry, deletionFinalizersForGarbageCollection).
"""
