package main

import (
	"github.com/llm-d/llm-d-router/pkg/epp/framework/interface/plugin"
	attribute "github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/datalayer/attribute/prefix"
	extractor "github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/datalayer/extractor/metrics"
	source "github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/datalayer/source/metrics"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/flowcontrol/fairness/globalstrict"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/flowcontrol/ordering/fcfs"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/flowcontrol/usagelimits"
	approx "github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/requestcontrol/dataproducer/approximateprefix"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/requestcontrol/dataproducer/tokenizer"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/requesthandling/parsers/anthropic"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/requesthandling/parsers/openai"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/requesthandling/parsers/vllmhttp"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/filter/bylabel"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/picker/maxscore"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/profilehandler/disagg"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/scorer/kvcacheutilization"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/scorer/prefix"
	"github.com/llm-d/llm-d-router/pkg/epp/framework/plugins/scheduling/scorer/queuedepth"
)

// register makes known the plugins that we use, or that the loader adds, as the router does (cmd/epp/runner).
func register() {
	plugin.Register(bylabel.PrefillRoleType, bylabel.PrefillRoleFactory)
	plugin.Register(bylabel.DecodeRoleType, bylabel.DecodeRoleFactory)
	plugin.Register(disagg.DisaggProfileHandlerType, disagg.HandlerFactory)
	plugin.Register(disagg.AlwaysDisaggPDDeciderPluginType, disagg.AlwaysDisaggPDDeciderPluginFactory)
	plugin.Register(disagg.PrefixBasedPDDeciderPluginType, disagg.PrefixBasedPDDeciderPluginFactory)
	plugin.Register(prefix.PrefixCacheScorerPluginType, prefix.PrefixCachePluginFactory)
	plugin.Register(queuedepth.QueueScorerType, queuedepth.QueueScorerFactory)
	plugin.Register(kvcacheutilization.KvCacheUtilizationScorerType, kvcacheutilization.KvCacheUtilizationScorerFactory)
	plugin.Register(maxscore.MaxScorePickerType, maxscore.MaxScorePickerFactory)
	plugin.RegisterAsDefaultProducer(approx.ApproxPrefixCachePluginType, approx.ApproxPrefixCacheFactory, attribute.PrefixCacheMatchInfoDataKey)
	plugin.RegisterAsDefaultProducer(tokenizer.PluginType, tokenizer.PluginFactory, tokenizer.TokenizedPromptDataKey)

	plugin.Register(globalstrict.GlobalStrictFairnessPolicyType, globalstrict.GlobalStrictFairnessPolicyFactory)
	plugin.Register(fcfs.FCFSOrderingPolicyType, fcfs.FCFSOrderingPolicyFactory)
	plugin.Register(usagelimits.StaticUsageLimitPolicyType, usagelimits.StaticPolicyFactory)
	plugin.Register(utilization.UtilizationDetectorType, utilization.UtilizationDetectorFactory)
	plugin.Register(source.MetricsDataSourceType, source.MetricsDataSourceFactory)
	plugin.Register(extractor.MetricsExtractorType, extractor.CoreMetricsExtractorFactory)
	plugin.Register(openai.OpenAIParserType, openai.OpenAIParserPluginFactory)
	plugin.Register(anthropic.AnthropicParserType, anthropic.AnthropicParserPluginFactory)
	plugin.Register(vllmhttp.VllmHTTPParserType, vllmhttp.VllmHTTPParserPluginFactory)
}
