// Kubelet probes servers with the clients that the kubelet has: one JSON question a line in, one JSON answer a line out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

type question struct {
	// Probe is the handler of a container's probe: httpGet or grpc. Ports are numbers.
	Probe v1.ProbeHandler `json:"probe"`
	PodIP string          `json:"podIP"`
	// TimeoutSeconds is that of the probe.
	TimeoutSeconds int32 `json:"timeoutSeconds"`
}

type answer struct {
	Result string `json:"result"`
	Output string `json:"output"`
}

func ask(q question) (probe.Result, string, error) {
	timeout := time.Duration(q.TimeoutSeconds) * time.Second
	if grpc := q.Probe.GRPC; grpc != nil {
		service := ""
		if grpc.Service != nil {
			service = *grpc.Service
		}
		return grpcprobe.New().Probe(q.PodIP, service, int(grpc.Port), timeout)
	}
	request, err := request(q)
	if err != nil {
		return probe.Failure, "", err
	}
	return httpprobe.New(false).Probe(request, timeout)
}

func request(q question) (*http.Request, error) {
	if q.Probe.HTTPGet.Port.Type != intstr.Int {
		return nil, fmt.Errorf("port %s is not a number", q.Probe.HTTPGet.Port.String())
	}
	container := &v1.Container{}
	return httpprobe.NewRequestForHTTPGetAction(q.Probe.HTTPGet, container, q.PodIP, "probe")
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fail(err)
		}
		result, output, err := ask(q)
		if err != nil {
			output = err.Error()
		}
		if err := encoder.Encode(answer{Result: string(result), Output: output}); err != nil {
			fail(err)
		}
	}
}
