// Package ext holds the extension points of Traefik's dynamic configuration, empty as in the open-source build.
// Its module cannot be had from the module proxy (traefik v3.7).
package ext

// HTTP extends the HTTP configuration.
type HTTP struct{}

// Router extends a router.
type Router struct{}
