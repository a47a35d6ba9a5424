// Allocator gives pods their devices by Kubernetes' own allocator: one pool and its events a line in, what came of each event a line out.
//
// It stands in for kube-scheduler: it tries the nodes in an order that the question chooses, and takes the first on which the allocator succeeds.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type question struct {
	// Nodes has the ResourceSlices of each node.
	Nodes [][]slice `json:"nodes"`
	// Resources has what each node has of cpu, memory and so on, and Requests what each demand asks for of them. The allocator knows only devices.
	Resources [][]int64 `json:"resources"`
	Requests  [][]int64 `json:"requests"`
	// Classes has the selector of each DeviceClass.
	Classes map[string]string `json:"classes"`
	// Demands has what pods may ask for.
	Demands [][]request `json:"demands"`
	Events  []event     `json:"events"`
}

type slice struct {
	Driver  string   `json:"driver"`
	Devices []device `json:"devices"`
}

type device struct {
	Name       string                     `json:"name"`
	Attributes map[string]attribute       `json:"attributes"`
	Capacity   map[string]publishedAmount `json:"capacity"`
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

type request struct {
	Name      string   `json:"name"`
	Count     int64    `json:"count"`
	Class     string   `json:"class"`
	Selectors []string `json:"selectors"`
}

type event struct {
	// Do is "add" for a pod that comes, "remove" for one that goes, and "try" for one that is only asked about.
	Do     string `json:"do"`
	Pod    string `json:"pod"`
	Demand int    `json:"demand"`
	// Nodes are those to try, by their numbers, in the order in which they are tried.
	Nodes []int `json:"nodes"`
	// By sorts these by the devices that are taken: "packed" has the fullest first, "scattered" the emptiest.
	By string `json:"by"`
}

type answer struct {
	// Nodes has the node of each event; -1 if there is none.
	Nodes []int `json:"nodes"`
	// Errors are the errors of the allocator, and TimedOut the tries that it did not finish.
	Errors   []string `json:"errors"`
	TimedOut int      `json:"timedOut"`
	// Slowest is the longest try, in microseconds.
	Slowest int64 `json:"slowest"`
	// Invocations has, for each event, how often the allocator called itself on one node, at most.
	Invocations []int64 `json:"invocations"`
}

// longest is what kube-scheduler gives the allocator for a node.
const longest = 10 * time.Second

// features are those that kube-scheduler 1.36 has by default.
var features = structured.Features{
	AdminAccess: true, ConsumableCapacity: true, DeviceBindingAndStatus: true,
	DeviceTaints: true, PartitionableDevices: true, PrioritizedList: true,
}

var cache = cel.NewCache(4096, cel.Features{EnableConsumableCapacity: true})

type classes map[string]*resourceapi.DeviceClass

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	if found, ok := c[name]; ok {
		return found, nil
	}
	return nil, fmt.Errorf("no class %s", name)
}

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return nil, errors.New("nobody asks") }

type pool struct {
	question question
	classes  classes
	slices   [][]*resourceapi.ResourceSlice
	taken    sets.Set[structured.DeviceID]
	used     []int
	pods     map[string]placed
	answer   answer
}

type placed struct {
	node    int
	demand  int
	devices []structured.DeviceID
}

func opened(q question) (*pool, error) {
	p := &pool{question: q, classes: classes{}, taken: sets.New[structured.DeviceID](), used: make([]int, len(q.Nodes)), pods: map[string]placed{}}
	for name, selector := range q.Classes {
		class := &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		class.Spec.Selectors = []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: selector}}}
		p.classes[name] = class
	}
	for i, node := range q.Nodes {
		var published []*resourceapi.ResourceSlice
		for j, given := range node {
			s, err := publish(i, j, given)
			if err != nil {
				return nil, err
			}
			published = append(published, s)
		}
		p.slices = append(p.slices, published)
	}
	return p, nil
}

func publish(node, number int, given slice) (*resourceapi.ResourceSlice, error) {
	name := nodeName(node)
	s := &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, number)}}
	s.Spec = resourceapi.ResourceSliceSpec{
		Driver: given.Driver, NodeName: &name, Pool: resourceapi.ResourcePool{Name: fmt.Sprintf("%s-%d", name, number), Generation: 1, ResourceSliceCount: 1},
	}
	for _, d := range given.Devices {
		one := resourceapi.Device{Name: d.Name, Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{}, Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}}
		for key, value := range d.Attributes {
			one.Attributes[resourceapi.QualifiedName(key)] = resourceapi.DeviceAttribute{
				StringValue: value.String, BoolValue: value.Bool, IntValue: value.Int, VersionValue: value.Version,
			}
		}
		for key, amount := range d.Capacity {
			value, err := resource.ParseQuantity(amount.Value)
			if err != nil {
				return nil, err
			}
			one.Capacity[resourceapi.QualifiedName(key)] = resourceapi.DeviceCapacity{Value: value}
		}
		s.Spec.Devices = append(s.Spec.Devices, one)
	}
	return s, nil
}

func nodeName(number int) string { return fmt.Sprintf("node-%d", number) }

func claim(pod string, requests []request) *resourceapi.ResourceClaim {
	c := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: "default", UID: types.UID(pod)}}
	for _, r := range requests {
		exactly := &resourceapi.ExactDeviceRequest{DeviceClassName: r.Class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: r.Count}
		for _, selector := range r.Selectors {
			exactly.Selectors = append(exactly.Selectors, resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: selector}})
		}
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourceapi.DeviceRequest{Name: r.Name, Exactly: exactly})
	}
	return c
}

func (p *pool) run() answer {
	for _, e := range p.question.Events {
		p.answer.Invocations = append(p.answer.Invocations, 0)
		if e.Do == "remove" {
			gone := p.pods[e.Pod]
			delete(p.pods, e.Pod)
			p.taken.Delete(gone.devices...)
			p.used[gone.node] -= len(gone.devices)
			p.charge(gone, 1)
			p.answer.Nodes = append(p.answer.Nodes, gone.node)
			continue
		}
		found := p.place(e)
		if found == nil {
			p.answer.Nodes = append(p.answer.Nodes, -1)
			continue
		}
		p.answer.Nodes = append(p.answer.Nodes, found.node)
		if e.Do == "add" {
			p.pods[e.Pod] = *found
			p.taken.Insert(found.devices...)
			p.used[found.node] += len(found.devices)
			p.charge(*found, -1)
		}
	}
	return p.answer
}

func (p *pool) place(e event) *placed {
	order := slices.Clone(e.Nodes)
	switch e.By {
	case "packed":
		slices.SortStableFunc(order, func(a, b int) int { return p.used[b] - p.used[a] })
	case "scattered":
		slices.SortStableFunc(order, func(a, b int) int { return p.used[a] - p.used[b] })
	}
	wanted := claim(e.Pod, p.question.Demands[e.Demand])
	for _, node := range order {
		if !p.hasResources(node, e.Demand) {
			continue
		}
		if found := p.allocated(node, wanted); found != nil {
			found.demand = e.Demand
			return found
		}
	}
	return nil
}

func (p *pool) hasResources(node, demand int) bool {
	for i, has := range p.question.Resources[node] {
		if wants := p.question.Requests[demand][i]; wants > 0 && wants > has {
			return false
		}
	}
	return true
}

func (p *pool) charge(pod placed, sign int64) {
	for i := range p.question.Resources[pod.node] {
		p.question.Resources[pod.node][i] += sign * p.question.Requests[pod.demand][i]
	}
}

// allocated returns what the allocator gives a claim on a node; nil if it gives nothing.
func (p *pool) allocated(node int, wanted *resourceapi.ResourceClaim) *placed {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	start := time.Now()
	state := structured.AllocatedState{AllocatedDevices: p.taken, AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](), AggregatedCapacity: structured.NewConsumedCapacityCollection()}
	allocator, err := structured.NewAllocator(ctx, features, state, p.classes, p.slices[node], cache)
	if err != nil {
		p.answer.Errors = append(p.answer.Errors, err.Error())
		return nil
	}
	object := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(node)}}
	results, err := allocator.Allocate(ctx, object, []*resourceapi.ResourceClaim{wanted})
	counted := &p.answer.Invocations[len(p.answer.Invocations)-1]
	*counted = max(*counted, invocations(allocator))
	p.answer.Slowest = max(p.answer.Slowest, time.Since(start).Microseconds())
	if errors.Is(err, context.DeadlineExceeded) {
		p.answer.TimedOut++
		return nil
	}
	if err != nil {
		p.answer.Errors = append(p.answer.Errors, err.Error())
		return nil
	}
	if len(results) == 0 {
		return nil
	}
	found := &placed{node: node}
	for _, result := range results[0].Devices.Results {
		found.devices = append(found.devices, structured.MakeDeviceID(result.Driver, result.Pool, result.Device))
	}
	return found
}

// invocations returns what the allocator counted. The type of its statistics is internal.
func invocations(allocator structured.Allocator) int64 {
	stats := reflect.ValueOf(allocator).MethodByName("GetStats").Call(nil)[0]
	return stats.FieldByName("NumAllocateOneInvocations").Int()
}

func ask(q question) (answer, error) {
	p, err := opened(q)
	if err != nil {
		return answer{}, err
	}
	return p.run(), nil
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 64<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for in.Scan() {
		var q question
		err := json.Unmarshal(in.Bytes(), &q)
		var said answer
		if err == nil {
			said, err = ask(q)
		}
		if err == nil {
			err = encoder.Encode(said)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Flush()
	}
}
