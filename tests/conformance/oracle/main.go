// Oracle answers device selectors with Kubernetes' own library: one JSON case a line in, one JSON answer a line out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"
)

type question struct {
	Expression  string `json:"expression"`
	CompileOnly bool   `json:"compileOnly"`
	Device      struct {
		Driver                   string                     `json:"driver"`
		AllowMultipleAllocations *bool                      `json:"allowMultipleAllocations"`
		Attributes               map[string]attribute       `json:"attributes"`
		Capacity                 map[string]publishedAmount `json:"capacity"`
	} `json:"device"`
}

type attribute struct {
	String  *string `json:"string"`
	Bool    *bool   `json:"bool"`
	Int     *int64  `json:"int"`
	Version *string `json:"version"`
}

type publishedAmount struct {
	Value string `json:"value"`
}

type answer struct {
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
	Type    string `json:"type,omitempty"`
	MaxCost uint64 `json:"maxCost"`
	Cost    uint64 `json:"cost"`
	// Nanoseconds is the time that compiling took.
	Nanoseconds int64 `json:"nanoseconds"`
}

func ask(q question) (a answer) {
	stage := "compile_error"
	defer func() {
		if p := recover(); p != nil {
			a = answer{Outcome: stage, Detail: fmt.Sprint("panic: ", p)}
		}
	}()
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	start := time.Now()
	compiled := compiler.CompileCELExpression(q.Expression, cel.Options{})
	took := time.Since(start).Nanoseconds()
	if compiled.Error != nil {
		return answer{Outcome: "compile_error", Detail: compiled.Error.Detail, Nanoseconds: took}
	}
	stage = "runtime_error"
	a = answer{MaxCost: compiled.MaxCost, Type: compiled.OutputType.String(), Nanoseconds: took}
	if q.CompileOnly {
		a.Outcome = "compiled"
		return a
	}
	device, err := published(q)
	if err != nil {
		return answer{Outcome: "bad_device", Detail: err.Error()}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), device)
	if details != nil && details.ActualCost() != nil {
		a.Cost = *details.ActualCost()
	}
	switch {
	case err != nil:
		a.Outcome, a.Detail = "runtime_error", err.Error()
	case matches:
		a.Outcome = "match"
	default:
		a.Outcome = "nomatch"
	}
	return a
}

func published(q question) (cel.Device, error) {
	device := cel.Device{
		Driver:                   q.Device.Driver,
		AllowMultipleAllocations: q.Device.AllowMultipleAllocations,
		Attributes:               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity:                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	for name, value := range q.Device.Attributes {
		device.Attributes[resourceapi.QualifiedName(name)] = resourceapi.DeviceAttribute{
			StringValue: value.String, BoolValue: value.Bool, IntValue: value.Int, VersionValue: value.Version,
		}
	}
	for name, amount := range q.Device.Capacity {
		value, err := resource.ParseQuantity(amount.Value)
		if err != nil {
			return device, fmt.Errorf("capacity %s: %w", name, err)
		}
		device.Capacity[resourceapi.QualifiedName(name)] = resourceapi.DeviceCapacity{Value: value}
	}
	return device, nil
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 64<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := encoder.Encode(ask(q)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Flush()
	}
}
