// Command gateway serves Gateway API routes with Traefik's own parts: its provider, which reads the API server and writes
// the statuses of routes, its rule matcher, its path rewriter and its weighted balancer. Proxying is net/http's.
//
// It leaves out what needs certificate authorities and DNS vendors, whose modules Traefik's whole binary imports. A part
// of a configuration that is not wired here makes its router answer 500, and the log says which: nothing passes by silence.
//
//	KUBECONFIG=… gateway -listen 198.18.0.1:8000 -entrypoint web=:8000 -address 198.18.0.1
//
// For measurements, it serves a configuration that the provider would make, without an API server:
//
//	gateway -listen 127.0.0.1:8000 -static configuration.json
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/middlewares/gatewayapi/urlrewrite"
	httpmuxer "github.com/traefik/traefik/v3/pkg/muxer/http"
	"github.com/traefik/traefik/v3/pkg/provider/kubernetes/gateway"
	"github.com/traefik/traefik/v3/pkg/safe"
	"github.com/traefik/traefik/v3/pkg/server/service/loadbalancer/wrr"
)

const origin = "@kubernetesgateway"

// routes turns a dynamic configuration into a handler.
type routes struct{ *dynamic.HTTPConfiguration }

func (r routes) handler() (http.Handler, error) {
	parser, err := httpmuxer.NewSyntaxParser()
	if err != nil {
		return nil, err
	}
	mux := httpmuxer.NewMuxer(parser, nil)
	for name, router := range r.Routers {
		priority := router.Priority
		if priority == 0 {
			priority = httpmuxer.GetRulePriority(router.Rule)
		}
		if err := mux.AddRoute(router.Rule, router.RuleSyntax, priority, strings.TrimPrefix(origin, "@"), r.router(name, router)); err != nil {
			return nil, fmt.Errorf("router %s: %w", name, err)
		}
	}
	return mux, nil
}

func (r routes) router(name string, router *dynamic.Router) http.Handler {
	handler, err := r.service(router.Service)
	if err == nil {
		handler, err = r.wrapped(handler, router.Middlewares)
	}
	if err != nil {
		log.Printf("router %s: %v", name, err)
		return answer(http.StatusInternalServerError)
	}
	return handler
}

func (r routes) service(name string) (http.Handler, error) {
	service := r.Services[strings.TrimSuffix(name, origin)]
	if service == nil {
		return nil, fmt.Errorf("there is no service %s", name)
	}
	balancer, err := r.balancer(service)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", name, err)
	}
	return r.wrapped(balancer, service.Middlewares)
}

func (r routes) balancer(service *dynamic.Service) (http.Handler, error) {
	balancer := wrr.New(nil, false)
	switch {
	case service.Weighted != nil:
		for index, child := range service.Weighted.Services {
			handler, err := r.weighted(child)
			if err != nil {
				return nil, err
			}
			balancer.Add(fmt.Sprintf("%d-%s", index, child.Name), handler, child.Weight, false)
		}
	case service.LoadBalancer != nil:
		one := 1
		for _, server := range service.LoadBalancer.Servers {
			target, err := url.Parse(server.URL)
			if err != nil {
				return nil, err
			}
			balancer.Add(server.URL, proxy(target), &one, false)
		}
	default:
		return nil, fmt.Errorf("it is of a kind that is not wired here")
	}
	return balancer, nil
}

func (r routes) weighted(child dynamic.WRRService) (http.Handler, error) {
	if child.Status != nil {
		return answer(*child.Status), nil
	}
	return r.service(child.Name)
}

func (r routes) wrapped(next http.Handler, names []string) (http.Handler, error) {
	for index := len(names) - 1; index >= 0; index-- {
		middleware := r.Middlewares[strings.TrimSuffix(names[index], origin)]
		if middleware == nil || middleware.URLRewrite == nil {
			return nil, fmt.Errorf("middleware %s is not there, or of a kind that is not wired here", names[index])
		}
		next = urlrewrite.NewURLRewrite(context.Background(), next, *middleware.URLRewrite, names[index])
	}
	return next, nil
}

// proxy passes requests on, and answers as they come: a stream is not held back.
func proxy(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(request *httputil.ProxyRequest) { request.SetURL(target) },
	}
}

func answer(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8000", "address to serve on")
	entrypoint := flag.String("entrypoint", "web=:8000", "name and port of the entry point, as the Gateway's listener has it")
	address := flag.String("address", "127.0.0.1", "IP address to publish as the Gateway's")
	static := flag.String("static", "", "a file with a dynamic configuration of HTTP, in place of an API server's routes")
	flag.Parse()
	var current atomic.Pointer[http.Handler]
	start := func() error { return follow(*entrypoint, *address, &current) }
	if *static != "" {
		start = func() error { return load(*static, &current) }
	}
	if err := start(); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(*listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler := current.Load(); handler != nil {
			(*handler).ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})))
}

// load serves the configuration in a file.
func load(path string, current *atomic.Pointer[http.Handler]) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var configuration dynamic.HTTPConfiguration
	if err := json.Unmarshal(text, &configuration); err != nil {
		return err
	}
	handler, err := routes{&configuration}.handler()
	if err != nil {
		return err
	}
	current.Store(&handler)
	return nil
}

// follow reads the API server for as long as the program runs.
func follow(entrypoint, address string, current *atomic.Pointer[http.Handler]) error {
	name, port, _ := strings.Cut(entrypoint, "=")
	provider := &gateway.Provider{
		EntryPoints:   map[string]gateway.Entrypoint{name: {Address: port}},
		StatusAddress: &gateway.StatusAddress{IP: address},
	}
	provider.SetDefaults()
	if err := provider.Init(); err != nil {
		return err
	}
	messages := make(chan dynamic.Message)
	if err := provider.Provide(messages, safe.NewPool(context.Background())); err != nil {
		return err
	}
	go func() {
		for message := range messages {
			handler, err := routes{message.Configuration.HTTP}.handler()
			if err != nil {
				log.Print(err)
				continue
			}
			current.Store(&handler)
		}
	}()
	return nil
}
