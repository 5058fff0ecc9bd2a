package awsjob

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// stopPrefix stands in a reference before the members that only the stop call
// needs.
const stopPrefix = "Stop."

// job is the driver of a job that it starts.
type job struct {
	described

	start *call
	// arguments of the describe call, and of the stop call.
	arguments, stopArguments []argument
}

// stoppable is a job that can be stopped.
type stoppable struct {
	*job

	stop *call
}

// argument is a member of the input of a call that is made of what the start
// call was given and has answered.
type argument struct {
	member *catalog.Member
	from   *jmespath.Program
	text   string // the expression
}

// newJob returns the driver of a job.
func newJob(of described, client, starter *Client) (jobs.Driver, error) {
	d := &job{described: of}
	var err error
	if d.start, err = d.prepare(starter, of.entry.Name); err != nil {
		return nil, err
	}
	if d.arguments, err = d.compile(of.entry.Operation, of.entry.Job.Arguments); err != nil {
		return nil, err
	}
	order := of.entry.Job.Stop
	if order == nil {
		return d, nil
	}
	s := &stoppable{job: d}
	if s.stop, err = d.prepare(client, order.Operation); err != nil {
		return nil, err
	}
	if d.stopArguments, err = d.compile(s.stop.op, order.Arguments); err != nil {
		return nil, err
	}
	return s, nil
}

// Idempotency implements jobs.Driver.
func (d *job) Idempotency(jobs.Request) jobs.Idempotency {
	if tokenMember(d.start.op) == nil {
		return jobs.Idempotency{Class: jobs.NoProtection}
	}
	return jobs.Idempotency{Class: jobs.ByToken, Window: tokenWindow}
}

// Permissions implements jobs.Driver.
func (d *job) Permissions() []jobs.Permission {
	all := permissions(nil, d.start.op, jobs.MethodStart)
	for _, p := range d.entry.Job.Dependent {
		all = append(all, jobs.Permission{Action: p.Action, For: jobs.MethodStart, Resource: p.Resource, Dependent: true})
	}
	return permissions(all, d.describe.op, jobs.MethodDescribe)
}

// Permissions implements jobs.Driver.
func (d *stoppable) Permissions() []jobs.Permission {
	all := permissions(d.job.Permissions(), d.stop.op, jobs.MethodStop)
	return permissions(all, d.describe.op, jobs.MethodStop)
}

// Start implements jobs.Driver.
func (d *job) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := d.start.read(r.Arguments, reading{
		spell: pascal, name: d.name, reserved: true, newToken: func() (string, error) { return r.Token, nil },
	})
	if err != nil {
		return nil, err
	}
	out, err := d.start.do(ctx, in, modelSpelling)
	if err != nil {
		return nil, err
	}
	return d.ref(map[string]any{"input": in.value(), "output": out})
}

func (d *job) prepare(c *Client, operation string) (*call, error) {
	op := d.entry.Service.Operations[operation]
	if op == nil {
		return nil, fmt.Errorf("%s: the catalogue does not have the operation %s", d.name, operation)
	}
	return c.prepare(op)
}

// compile reads the expressions of a call's arguments.
func (d *job) compile(op *catalog.Operation, arguments map[string]string) ([]argument, error) {
	var all []argument
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		expr, err := jmespath.Parse(arguments[name])
		if err != nil {
			return nil, fmt.Errorf("%s: argument %s of %s: %w", d.name, name, op.Name, err)
		}
		member := op.Input.Member(name)
		if member == nil {
			return nil, fmt.Errorf("%s: %s has no argument %s", d.name, op.Name, name)
		}
		program, _ := expr.Compile(nil) // of any JSON there is nothing to find
		all = append(all, argument{member, program, arguments[name]})
	}
	return all, nil
}

// ref makes the reference of a job from what its start call was given and has
// answered.
func (d *job) ref(started map[string]any) (jobs.Ref, error) {
	ref := jobs.Ref{}
	for _, a := range d.arguments {
		value, err := a.value(started)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if value != "" {
			ref[pascal(a.member.Name)] = value
		}
	}
	if len(ref) == 0 {
		return nil, fmt.Errorf("%s: the start call returned nothing that names the job", d.name)
	}
	for _, a := range d.stopArguments {
		value, err := a.value(started)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if name := pascal(a.member.Name); value != "" && ref[name] != value {
			ref[stopPrefix+name] = value
		}
	}
	return ref, nil
}

// value evaluates the argument; the empty string stands for none.
func (a *argument) value(started map[string]any) (string, error) {
	value, err := a.from.Eval(started)
	if err != nil {
		return "", fmt.Errorf("%s: %w", a.text, err)
	}
	if value == nil || value == "" {
		if a.member.Required || a.member.In == catalog.InPath {
			return "", fmt.Errorf("the start call returned no %s, so the job cannot be described or stopped", a.text)
		}
		return "", nil
	}
	if text, ok := value.(string); ok && isText(a.member.Shape) {
		return text, nil
	}
	spelt, err := a.spell(value)
	if err != nil {
		return "", err
	}
	if text, ok := spelt.(string); ok && !isText(a.member.Shape) {
		return "", fmt.Errorf("%s is the string %q, which %s is not", a.text, text, a.member.Name)
	}
	return refText(spelt), nil
}

// spell gives a value the spelling of references.
func (a *argument) spell(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	return respell(doc.Root, a.member.Shape, modelSpelling, pascal), nil
}

// value is the input as it is sent, in the model's spelling.
func (in *input) value() map[string]any {
	all := map[string]any{}
	for _, m := range members(in.call.op) {
		if n := in.root.Get(in.spell(m.Name)); n != nil {
			all[m.Name] = respell(n, m.Shape, in.spell, modelSpelling)
		}
	}
	if in.tokenMember != "" {
		all[in.tokenMember] = in.token
	}
	return all
}

// respell returns a value with the members of structures spelt otherwise.
func respell(n *jsontree.Node, shape *catalog.Shape, from, to spelling) any {
	switch {
	case (shape.Type == catalog.Structure || shape.Type == catalog.Union) && n.Kind == jsontree.Object:
		object := map[string]any{}
		for _, m := range shape.Members {
			if value := n.Get(from(m.Name)); value != nil {
				object[to(m.Name)] = respell(value, m.Shape, from, to)
			}
		}
		return object
	case shape.Type == catalog.List && n.Kind == jsontree.Array:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, respell(item, shape.Element.Shape, from, to))
		}
		return list
	case shape.Type == catalog.Map && n.Kind == jsontree.Object:
		object := map[string]any{}
		for _, m := range n.Members {
			object[m.Name] = respell(m.Value, shape.Element.Shape, from, to)
		}
		return object
	default:
		return n.Value()
	}
}

// Stop implements jobs.Stopper.
func (d *stoppable) Stop(ctx context.Context, ref jobs.Ref) error {
	arguments := jobs.Ref{}
	for _, a := range d.stopArguments {
		name := pascal(a.member.Name)
		value, own := ref[stopPrefix+name]
		if !own {
			value = ref[name]
		}
		if value != "" {
			arguments[name] = value
		}
	}
	in, err := d.stop.fromRef(d.name, arguments)
	if err != nil {
		return err
	}
	_, err = d.stop.do(ctx, in, pascal)
	return jobs.StopResult(ctx, d, ref, err)
}
