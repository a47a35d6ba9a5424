// Pods validates pod templates with the API server's own code: one JSON template a line in, one JSON answer a line out.
//
// A template is decoded, defaulted, converted and validated as that of a Deployment, in the order of the API server. The
// requests of a pod of it are summed as kube-scheduler does.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/apps/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/capabilities"
	strict "sigs.k8s.io/json"
)

const longest = 1 << 23

// gates opens fields that 1.34 drops by default, and later versions keep: so they are judged.
var gates = map[string]bool{
	"ClusterTrustBundle":           true,
	"ClusterTrustBundleProjection": true,
	"ContainerRestartRules":        true,
	"ContainerStopSignals":         true,
	"EnvFiles":                     true,
	"HostnameOverride":             true,
	"ImageVolume":                  true,
	"PodCertificateRequest":        true,
	"SELinuxMount":                 true,
}

type answer struct {
	// Malformed says why the template cannot be decoded.
	Malformed string `json:"malformed,omitempty"`
	// Unknown holds fields that Kubernetes does not know, and fields that are there twice.
	Unknown []string `json:"unknown"`
	Errors  []fault  `json:"errors"`
	// Defaulted is the digest of the template as the API server would store it.
	Defaulted string `json:"defaulted,omitempty"`
	// Requests is what kube-scheduler counts of a pod of the template: millicores, and bytes of the others.
	Requests [3]int64 `json:"requests"`
}

type fault struct {
	Field  string `json:"field"`
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

func validate(template []byte) answer {
	given := answer{Unknown: []string{}, Errors: []fault{}}
	deployment := &appsv1.Deployment{}
	unknown, err := strict.UnmarshalStrict(template, &deployment.Spec.Template)
	if err != nil {
		given.Malformed = err.Error()
		return given
	}
	for _, one := range unknown {
		given.Unknown = append(given.Unknown, one.Error())
	}
	legacyscheme.Scheme.Default(deployment)
	internal := &apps.Deployment{}
	if err := legacyscheme.Scheme.Convert(deployment, internal, nil); err != nil {
		given.Malformed = err.Error()
		return given
	}
	pods := &internal.Spec.Template
	podutil.DropDisabledTemplateFields(pods, nil)
	options := podutil.GetValidationOptionsFromPodTemplate(pods, nil)
	path := field.NewPath("template")
	for _, one := range validation.ValidatePodTemplateSpecForReplicaSet(pods, labels.Everything(), 1, path, options) {
		given.Errors = append(given.Errors, fault{one.Field, string(one.Type), one.Detail})
	}
	given.Defaulted = digest(deployment.Spec.Template)
	given.Requests = requests(deployment.Spec.Template.Spec)
	return given
}

func requests(spec corev1.PodSpec) [3]int64 {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	legacyscheme.Scheme.Default(pod)
	sum := resource.PodRequests(pod, resource.PodResourcesOptions{})
	return [3]int64{sum.Cpu().MilliValue(), sum.Memory().Value(), sum.StorageEphemeral().Value()}
}

// digest is equal for templates that mean the same: empty lists are as good as none.
func digest(template corev1.PodTemplateSpec) string {
	var plain any
	if err := json.Unmarshal(encoded(template), &plain); err != nil {
		panic(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(encoded(pruned(plain))))
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func pruned(value any) any {
	switch given := value.(type) {
	case map[string]any:
		for key, child := range given {
			list, isList := child.([]any)
			if child == nil || isList && len(list) == 0 {
				delete(given, key)
			} else {
				given[key] = pruned(child)
			}
		}
	case []any:
		for index, child := range given {
			given[index] = pruned(child)
		}
	}
	return value
}

func main() {
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		panic(err)
	}
	capabilities.Setup(true, 0) // --allow-privileged, as clusters that run GPU drivers have it
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 1<<16), longest)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := out.Encode(validate(lines.Bytes())); err != nil {
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
