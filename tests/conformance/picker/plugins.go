package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/interface/plugin"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/interface/scheduling"
	extractor "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/datalayer/extractor/metrics"
	source "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/datalayer/source/metrics"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/flowcontrol/fairness"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/flowcontrol/ordering"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/flowcontrol/usagelimits"
	approx "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/requestcontrol/dataproducer/approximateprefix"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/requesthandling/parsers/openai"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/scheduling/picker"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/scheduling/scorer/kvcacheutilization"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/scheduling/scorer/prefix"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/scheduling/scorer/queuedepth"
)

// register makes known the extension's plugins that we use or that its loader adds, and llm-d's for disaggregation.
func register() {
	plugin.Register(approx.ApproxPrefixCachePluginType, strict[producerParameters](approx.ApproxPrefixCacheFactory))
	plugin.Register(prefix.PrefixCacheScorerPluginType, strict[none](prefix.PrefixCachePluginFactory))
	plugin.Register(queuedepth.QueueScorerType, strict[none](queuedepth.QueueScorerFactory))
	plugin.Register(kvcacheutilization.KvCacheUtilizationScorerType, strict[none](kvcacheutilization.KvCacheUtilizationScorerFactory))
	plugin.Register(picker.MaxScorePickerType, strict[pickerParameters](picker.MaxScorePickerFactory))

	plugin.Register(fairness.GlobalStrictFairnessPolicyType, fairness.GlobalStrictFairnessPolicyFactory)
	plugin.Register(ordering.FCFSOrderingPolicyType, ordering.FCFSOrderingPolicyFactory)
	plugin.Register(usagelimits.StaticUsageLimitPolicyType, usagelimits.StaticPolicyFactory)
	plugin.Register(source.MetricsDataSourceType, source.MetricsDataSourceFactory)
	plugin.Register(extractor.MetricsExtractorType, extractor.CoreMetricsExtractorFactory)
	plugin.Register(openai.OpenAIParserType, openai.OpenAIParserPluginFactory)
	plugin.Register(utilization.UtilizationDetectorType, utilization.UtilizationDetectorFactory)

	plugin.Register("disagg-profile-handler", strict[handlerParameters](newHandler))
	plugin.Register("prefix-based-pd-decider", strict[deciderParameters](newDecider))
	plugin.Register("always-disagg-pd-decider", strict[none](newAlways))
	for _, role := range []string{"prefill-filter", "decode-filter"} {
		plugin.Register(role, strict[none](newFilter))
	}
}

// Parameters, as llm-d router v0.9 decodes them.

type none struct{}

type pickerParameters struct {
	MaxNumOfEndpoints int `json:"maxNumOfEndpoints"`
}

type producerParameters struct {
	AutoTune               bool `json:"autoTune"`
	BlockSizeTokens        int  `json:"blockSizeTokens"`
	MaxPrefixBlocksToMatch int  `json:"maxPrefixBlocksToMatch"`
	MaxPrefixTokensToMatch int  `json:"maxPrefixTokensToMatch"`
	LRUCapacityPerServer   int  `json:"lruCapacityPerServer"`
}

type deciderParameters struct {
	NonCachedTokens int `json:"nonCachedTokens"`
}

type handlerParameters struct {
	Profiles struct {
		Decode  string `json:"decode"`
		Prefill string `json:"prefill"`
		Encode  string `json:"encode"`
	} `json:"profiles"`
	Deciders struct {
		Prefill string `json:"prefill"`
		Encode  string `json:"encode"`
	} `json:"deciders"`
}

// strict refuses parameters that are not those of P, and only then asks a plugin's own factory.
func strict[P any](factory plugin.FactoryFunc) plugin.FactoryFunc {
	return func(name string, parameters json.RawMessage, handle plugin.Handle) (plugin.Plugin, error) {
		var known P
		if err := decode(parameters, &known); err != nil {
			return nil, err
		}
		return factory(name, parameters, handle)
	}
}

func decode(parameters json.RawMessage, into any) error {
	if parameters == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(parameters))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Plugins of llm-d that are only stood in for: they are what the loader takes them for, and choose nothing.

type stand struct{ typed plugin.TypedName }

func (s *stand) TypedName() plugin.TypedName { return s.typed }

type decider struct{ stand }

func newDecider(name string, parameters json.RawMessage, _ plugin.Handle) (plugin.Plugin, error) {
	var given deciderParameters
	if err := decode(parameters, &given); err != nil {
		return nil, err
	}
	if given.NonCachedTokens <= 0 { // llm-d refuses what is negative, and takes 0 for never
		return nil, fmt.Errorf("nonCachedTokens of %d never disaggregates", given.NonCachedTokens)
	}
	return &decider{stand{plugin.TypedName{Type: "prefix-based-pd-decider", Name: name}}}, nil
}

func newAlways(name string, _ json.RawMessage, _ plugin.Handle) (plugin.Plugin, error) {
	return &decider{stand{plugin.TypedName{Type: "always-disagg-pd-decider", Name: name}}}, nil
}

type filter struct{ stand }

func newFilter(name string, _ json.RawMessage, _ plugin.Handle) (plugin.Plugin, error) {
	return &filter{stand{plugin.TypedName{Type: "by-label", Name: name}}}, nil
}

func (f *filter) Filter(_ context.Context, _ *scheduling.CycleState, _ *scheduling.LLMRequest, all []scheduling.Endpoint) []scheduling.Endpoint {
	return all
}

type handler struct {
	stand
	given handlerParameters
}

// newHandler takes a decider only where it is there already: plugins are made in their order.
func newHandler(name string, parameters json.RawMessage, handle plugin.Handle) (plugin.Plugin, error) {
	h := &handler{stand: stand{plugin.TypedName{Type: "disagg-profile-handler", Name: name}}}
	if err := decode(parameters, &h.given); err != nil {
		return nil, err
	}
	if h.given.Deciders.Prefill == "" {
		return nil, errors.New("without deciders.prefill nothing is disaggregated")
	}
	if _, ok := handle.Plugin(h.given.Deciders.Prefill).(*decider); !ok {
		return nil, fmt.Errorf("deciders.prefill: there is no decider %q before the handler", h.given.Deciders.Prefill)
	}
	return h, nil
}

// uses gives the profile of each stage that runs; left out, it has the stage's name.
func (h *handler) uses() map[string]string {
	stages := map[string]string{"decode": h.given.Profiles.Decode, "prefill": h.given.Profiles.Prefill}
	for stage, name := range stages {
		if name == "" {
			stages[stage] = stage
		}
	}
	return stages
}

func (h *handler) Pick(_ context.Context, _ *scheduling.CycleState, _ *scheduling.LLMRequest, _ map[string]scheduling.SchedulerProfile, _ map[string]*scheduling.ProfileRunResult) map[string]scheduling.SchedulerProfile {
	return nil
}

func (h *handler) ProcessResults(_ context.Context, _ *scheduling.CycleState, _ *scheduling.LLMRequest, _ map[string]*scheduling.ProfileRunResult) (*scheduling.SchedulingResult, error) {
	return nil, errors.New("it only stands here")
}
