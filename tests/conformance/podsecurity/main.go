// Podsecurity judges pod templates with Kubernetes' own policy library: one JSON case a line in, one JSON verdict a line
// out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type question struct {
	Template corev1.PodTemplateSpec `json:"template"`
}

// verdict has the detail of each check that a pod fails, by level and by the check's ID.
type verdict map[api.Level]map[string]string

// named gives each check its ID as the reason that it reports.
func named(checks []policy.Check) []policy.Check {
	for i := range checks {
		id := string(checks[i].ID)
		for j := range checks[i].Versions {
			judge := checks[i].Versions[j].CheckPod
			checks[i].Versions[j].CheckPod = func(m *metav1.ObjectMeta, s *corev1.PodSpec) policy.CheckResult {
				result := judge(m, s)
				result.ForbiddenReason = id
				return result
			}
		}
	}
	return checks
}

func judge(evaluator policy.Evaluator, template corev1.PodTemplateSpec) verdict {
	found := verdict{}
	for _, level := range []api.Level{api.LevelPrivileged, api.LevelBaseline, api.LevelRestricted} {
		found[level] = map[string]string{}
		latest := api.LevelVersion{Level: level, Version: api.LatestVersion()}
		for _, result := range evaluator.EvaluatePod(latest, &template.ObjectMeta, &template.Spec) {
			if !result.Allowed {
				found[level][result.ForbiddenReason] = result.ForbiddenDetail
			}
		}
	}
	return found
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	evaluator, err := policy.NewEvaluator(named(policy.DefaultChecks()), nil)
	if err != nil {
		fail(err)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 64<<20)
	encoder := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fail(err)
		}
		if err := encoder.Encode(judge(evaluator, q.Template)); err != nil {
			fail(err)
		}
	}
}
