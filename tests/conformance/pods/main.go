// Pods validates pod templates with the API server's own code: one JSON template a line in, one JSON answer a line out.
//
// A template is decoded, defaulted, converted and validated as that of a Deployment, in the order of the API server.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/apps/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	strict "sigs.k8s.io/json"
)

const longest = 1 << 23

type answer struct {
	// Malformed says why the template cannot be decoded.
	Malformed string `json:"malformed,omitempty"`
	// Unknown holds fields that Kubernetes does not know, and fields that are there twice.
	Unknown []string `json:"unknown"`
	Errors  []fault  `json:"errors"`
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
	return given
}

func main() {
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
