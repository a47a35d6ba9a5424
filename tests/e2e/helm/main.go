// Command helm renders charts with Helm's own library, and reads Envoy Gateway's configuration with Envoy Gateway's own
// types: one JSON question a line in, one JSON answer a line out.
//
// It renders as `helm install` does before it asks a cluster for anything: conditions of subcharts, the chart's schema
// of values, the range of Kubernetes releases, templates, hooks. It is told what a cluster would say of itself.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/api/v1alpha1/validation"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

const (
	longest = 1 << 24 // of a line, which holds an answer's CRDs
	notes   = "NOTES.txt"
)

// question asks for a chart's objects, or, with nothing but a configuration, whether Envoy Gateway takes that.
type question struct {
	Folder        string         `json:"folder"`
	Release       string         `json:"release"`
	Namespace     string         `json:"namespace"`
	Version       string         `json:"version"`    // `helm package --version` writes it into the chart
	Kubernetes    string         `json:"kubernetes"` // release of the cluster
	Served        []string       `json:"served"`     // group/version and group/version/Kind that the cluster serves
	Values        map[string]any `json:"values"`
	Configuration string         `json:"configuration"`
}

type answer struct {
	Problem  string           `json:"problem,omitempty"`
	Defaults map[string]any   `json:"defaults,omitempty"` // the chart's and its subcharts' own values
	Objects  []map[string]any `json:"objects,omitempty"`  // CRDs, hooks, and the rest in the order of installation
}

func answered(asked question) (answer, error) {
	if asked.Configuration != "" {
		return answer{}, configured(asked.Configuration)
	}
	loaded, err := loader.Load(asked.Folder)
	if err != nil {
		return answer{}, err
	}
	loaded.Metadata.Version, loaded.Metadata.AppVersion = asked.Version, asked.Version
	defaults, err := chartutil.MergeValues(loaded, map[string]any{})
	if err != nil {
		return answer{}, err
	}
	objects, err := rendered(loaded, asked)
	return answer{Defaults: defaults, Objects: objects}, err
}

// rendered follows helm.sh/helm/v3/pkg/action: Install.Run up to its first request, and Configuration.renderResources.
func rendered(loaded *chart.Chart, asked question) ([]map[string]any, error) {
	release, err := chartutil.ParseKubeVersion(asked.Kubernetes)
	if err != nil {
		return nil, err
	}
	if wanted := loaded.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, asked.Kubernetes) {
		return nil, fmt.Errorf("the chart requires Kubernetes %s", wanted)
	}
	if err := chartutil.ProcessDependenciesWithMerge(loaded, asked.Values); err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: asked.Release, Namespace: asked.Namespace, Revision: 1, IsInstall: true}
	cluster := &chartutil.Capabilities{
		KubeVersion: *release,
		APIVersions: asked.Served,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}
	values, err := chartutil.ToRenderValues(loaded, asked.Values, options, cluster)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return path.Base(name) == notes })
	return objects(loaded, files)
}

func objects(loaded *chart.Chart, files map[string]string) ([]map[string]any, error) {
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, one := range loaded.CRDObjects() {
		documents := releaseutil.SplitManifests(string(one.File.Data))
		for _, name := range slices.Sorted(maps.Keys(documents)) {
			texts = append(texts, documents[name])
		}
	}
	for _, one := range hooks {
		texts = append(texts, one.Manifest)
	}
	for _, one := range manifests {
		texts = append(texts, one.Content)
	}
	return parsed(texts)
}

// parsed reads manifests. A key that is there twice is an error, as it would be to a strict API server.
func parsed(texts []string) ([]map[string]any, error) {
	found := []map[string]any{}
	for _, text := range texts {
		var one map[string]any
		if err := yaml.UnmarshalStrict([]byte(text), &one); err != nil {
			return nil, fmt.Errorf("%w in %s", err, text)
		}
		if len(one) > 0 {
			found = append(found, one)
		}
	}
	return found, nil
}

// configured is stricter than Envoy Gateway, which drops a field that it does not know.
func configured(text string) error {
	var read egv1a1.EnvoyGateway
	if err := yaml.UnmarshalStrict([]byte(text), &read); err != nil {
		return err
	}
	return validation.ValidateEnvoyGateway(&read)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		var asked question
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&asked)
		given := answer{}
		if err == nil {
			given, err = answered(asked)
		}
		if err != nil {
			given.Problem = err.Error()
		}
		line, _ := json.Marshal(given)
		fmt.Println(string(line))
	}
}
