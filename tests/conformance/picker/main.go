// Picker judges endpoint picker configurations: one JSON question a line in, one JSON verdict a line out.
//
// The loader, the plugins and their parameters are those of llm-d's router, which runs in our pickers. The router finds
// out only when it is asked that a profile is not there, or that nothing is ever split: that is looked for here.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llm-d/llm-d-router/apix/config/v1alpha1"
	"github.com/llm-d/llm-d-router/pkg/epp/config/loader"
	"github.com/llm-d/llm-d-router/pkg/epp/datalayer"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/interface/plugin"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/profilehandler/disagg"
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
	raw, _, err := loader.LoadRawConfig([]byte(text), logr.Discard())
	if err != nil {
		return refused(err)
	}
	given := raw.DeepCopy().Plugins // before the loader adds its own
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	nobody := func() []types.NamespacedName { return nil }
	handle := plugin.NewEppHandle(ctx, nobody, plugin.WithMetricsRecorder(prometheus.NewRegistry()))
	if _, err := loader.InstantiateAndConfigure(raw, handle, logr.Discard()); err != nil {
		return refused(err)
	}
	if err := datalayer.CreateMissingDataProducers(ctx, plugin.DefaultProducerRegistry, plugin.Registry, handle); err != nil {
		return refused(err)
	}
	if _, err := datalayer.ValidateAndOrderDataDependencies(handle.GetAllPlugins()); err != nil {
		return refused(err)
	}
	profiles := shown(raw.SchedulingProfiles)
	if err := split(given, profiles); err != nil {
		return refused(err)
	}
	return verdict{Loaded: true, Profiles: profiles}
}

func refused(err error) verdict { return verdict{Why: err.Error()} }

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

// split holds a configuration to a handler with profiles that are there and a decider that ever says yes.
func split(plugins []v1alpha1.PluginSpec, profiles map[string][]string) error {
	for _, one := range plugins {
		switch one.Type {
		case disagg.DisaggProfileHandlerType:
			if err := named(one.Parameters, profiles); err != nil {
				return err
			}
		case disagg.PrefixBasedPDDeciderPluginType:
			var decider disagg.PrefixBasedPDDeciderConfig
			if err := json.Unmarshal(one.Parameters, &decider); err != nil {
				return err
			}
			if decider.NonCachedTokens == 0 {
				return errors.New("nonCachedTokens of 0 never disaggregates")
			}
		}
	}
	return nil
}

func named(parameters json.RawMessage, profiles map[string][]string) error {
	var handler struct {
		Profiles map[string]string `json:"profiles"`
	}
	if err := json.Unmarshal(parameters, &handler); err != nil {
		return err
	}
	for _, stage := range []string{"decode", "prefill"} {
		name := handler.Profiles[stage]
		if _, there := profiles[name]; !there {
			return fmt.Errorf("the handler's profile %q for %s is not there", name, stage)
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
