// Statemetrics prints what kube-state-metrics makes of an object by a configuration: one JSON question a line in, one
// JSON answer a line out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresource"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	generator "k8s.io/kube-state-metrics/v2/pkg/metric_generator"
	yaml "sigs.k8s.io/yaml/goyaml.v3"
)

type question struct {
	// Config is the text of a CustomResourceStateMetrics.
	Config string                    `json:"config"`
	Object unstructured.Unstructured `json:"object"`
}

// answer has the metrics in the text format of Prometheus.
type answer struct {
	Metrics string `json:"metrics"`
}

// factories returns those of a configuration that are for the kind of an object.
func factories(q question) ([]customresource.RegistryFactory, error) {
	var config customresourcestate.Metrics
	decoder := yaml.NewDecoder(strings.NewReader(q.Config))
	if err := decoder.Decode(&config); err != nil {
		return nil, err
	}
	var found []customresource.RegistryFactory
	for _, resource := range config.Spec.Resources {
		gvk := q.Object.GroupVersionKind()
		if customresourcestate.GroupVersionKind(gvk) != resource.GroupVersionKind {
			continue
		}
		for i := range resource.Metrics { // as FromConfig does
			kind := &resource.Metrics[i].Each.Type
			*kind = metric.Type(strings.ToLower(string(*kind)))
		}
		factory, err := customresourcestate.NewCustomResourceMetrics(resource)
		if err != nil {
			return nil, err
		}
		found = append(found, factory)
	}
	return found, nil
}

func metricsOf(q question) (string, error) {
	found, err := factories(q)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, factory := range found {
		families := factory.MetricFamilyGenerators()
		headers := generator.ExtractMetricFamilyHeaders(families)
		for i := range families {
			fmt.Fprintln(&text, headers[i])
			text.Write(families[i].Generate(&q.Object).ByteSlice())
		}
	}
	return text.String(), nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 64<<20)
	encoder := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fail(err)
		}
		text, err := metricsOf(q)
		if err != nil {
			fail(err)
		}
		if err := encoder.Encode(answer{Metrics: text}); err != nil {
			fail(err)
		}
	}
}
