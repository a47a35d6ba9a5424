// Picker judges endpoint picker configurations: one JSON question a line in, one JSON verdict a line out.
//
// The loader, its structure checks, scorers, producer, picker and parser are those of the Gateway API Inference
// Extension. llm-d's router, which runs in our pickers, was built from them and cannot be had as a Go module. What it
// adds is stood in for here: its API group, its plugins for disaggregation, and that it refuses parameters that a
// plugin does not know.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/gateway-api-inference-extension/apix/config/v1alpha1"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/config/loader"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/datalayer"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/interface/plugin"
	"sigs.k8s.io/yaml"
)

const (
	theirs = "llm-d.ai"
	ours   = v1alpha1.GroupName
)

type question struct {
	Config string `json:"config"`
}

type verdict struct {
	Loaded   bool                `json:"loaded"`
	Why      string              `json:"why,omitempty"`
	Profiles map[string][]string `json:"profiles,omitempty"` // what each is made of, scorers with their weights
}

// judge takes a configuration through both phases of loading, and through what a picker does with the result.
func judge(text string) verdict {
	text, err := asOurs(text)
	if err != nil {
		return refused(err)
	}
	raw, _, err := loader.LoadRawConfig([]byte(text), logr.Discard())
	if err != nil {
		return refused(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	handle := plugin.NewEppHandle(ctx, func() []types.NamespacedName { return nil })
	if _, err := loader.InstantiateAndConfigure(raw, handle, logr.Discard()); err != nil {
		return refused(err)
	}
	if _, err := datalayer.ValidateAndOrderDataDependencies(handle.GetAllPlugins()); err != nil {
		return refused(err)
	}
	profiles := shown(raw.SchedulingProfiles)
	if err := named(handle, profiles); err != nil {
		return refused(err)
	}
	return verdict{Loaded: true, Profiles: profiles}
}

func refused(err error) verdict { return verdict{Why: err.Error()} }

// asOurs gives the text under the group of the extension's own loader.
func asOurs(text string) (string, error) {
	var meta struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := yaml.Unmarshal([]byte(text), &meta); err != nil {
		return "", err
	}
	group, version, _ := strings.Cut(meta.APIVersion, "/")
	if group != theirs {
		return "", fmt.Errorf("apiVersion %q is not of group %s", meta.APIVersion, theirs)
	}
	return strings.Replace(text, meta.APIVersion, ours+"/"+version, 1), nil
}

func shown(profiles []v1alpha1.SchedulingProfile) map[string][]string {
	all := map[string][]string{}
	for _, profile := range profiles {
		for _, one := range profile.Plugins {
			said := one.PluginRef
			if one.Weight != nil {
				said = fmt.Sprintf("%s*%g", said, *one.Weight)
			}
			all[profile.Name] = append(all[profile.Name], said)
		}
	}
	return all
}

// named holds the handler to profiles that there are: a picker finds out only when it is asked, and then says no.
func named(handle plugin.Handle, profiles map[string][]string) error {
	for _, one := range handle.GetAllPlugins() {
		handler, ok := one.(*handler)
		if !ok {
			continue
		}
		for stage, name := range handler.uses() {
			if _, there := profiles[name]; !there {
				return fmt.Errorf("the handler's profile %q for %s is not there", name, stage)
			}
		}
	}
	return nil
}

func main() {
	register()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 64<<20)
	encoder := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := encoder.Encode(judge(q.Config)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
