package awsjob

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
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

	client *Client
	start  *call
	rules  *startRules
	before *precondition // nil for none
	// arguments of the describe call, and of the stop call.
	arguments, stopArguments []argument
}

// finder finds jobs by the name that the driver has given them.
type finder struct{ *job }

// stopper stops jobs.
type stopper struct {
	*job

	stop    *call
	refused *refusal // nil if an answer of success means that the job was stopped
}

// The drivers of jobs that can be found, or stopped, or both.
type (
	findable struct {
		*job
		finder
	}
	stoppable struct {
		*job
		stopper
	}
	findableAndStoppable struct {
		*job
		finder
		stopper
	}
)

// argument is a member of the input of a call that is made of what the start
// call was given and has answered.
type argument struct {
	member *catalog.Member
	from   *jmespath.Program
	text   string // the expression
}

// newJob returns the driver of a job.
func newJob(of described, client, starter *Client) (jobs.Driver, error) {
	d := &job{described: of, client: client}
	var err error
	if d.start, err = d.prepare(starter, of.entry.Name); err != nil {
		return nil, err
	}
	if d.rules, err = newStartRules(of.entry.Job); err != nil {
		return nil, fmt.Errorf("%s: %w", of.name, err)
	}
	if d.before, err = newPrecondition(d, client); err != nil {
		return nil, err
	}
	if d.arguments, err = d.compile(of.entry.Operation, of.entry.Job.Arguments); err != nil {
		return nil, err
	}
	order, named := of.entry.Job.Stop, of.entry.Job.NaturalKey != nil
	if order == nil {
		if named {
			return &findable{d, finder{d}}, nil
		}
		return d, nil
	}
	s := stopper{job: d}
	if s.stop, err = d.prepare(client, order.Operation); err != nil {
		return nil, err
	}
	if d.stopArguments, err = d.compile(s.stop.op, order.Arguments); err != nil {
		return nil, err
	}
	if s.refused, err = newRefusal(order.Refused); err != nil {
		return nil, fmt.Errorf("%s: %w", of.name, err)
	}
	if named {
		return &findableAndStoppable{d, finder{d}, s}, nil
	}
	return &stoppable{d, s}, nil
}

// Idempotency implements jobs.Driver.
func (d *job) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.Class(d.entry.Job.Protection()), Window: d.entry.Job.Window()}
}

// Start implements jobs.Driver. A job that has the name already is the one that
// the request asks for.
func (d *job) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := d.read(r)
	if err != nil {
		return nil, err
	}
	if d.before != nil {
		if err := d.before.check(ctx, d.name, in); err != nil {
			return nil, err
		}
	}
	out, err := d.start.do(ctx, in, modelSpelling)
	key := d.entry.Job.NaturalKey
	if key != nil && err != nil && slices.Contains(key.Exists, codeOf(err)) {
		return d.refOfName(in)
	}
	if err != nil {
		return nil, err
	}
	ref, err := d.ref(map[string]any{"input": in.value(), "output": out})
	if key == nil || err != nil {
		return ref, err
	}
	named, err := d.refOfName(in)
	if err != nil {
		return nil, err
	}
	for member, value := range named {
		// To call this a refusal would say that nothing runs.
		if ref[member] != value {
			return nil, fmt.Errorf("%s: the service started a job with the %s %q instead of %q, so it cannot be found by its name",
				d.name, member, ref[member], value)
		}
	}
	return ref, nil
}

// read checks the arguments of a request.
func (d *job) read(r jobs.Request) (*input, error) {
	return d.start.read(r.Arguments, reading{
		spell: javasdk.MemberName, name: d.name, reserved: true, rules: d.rules, newToken: func() (string, error) { return r.Token, nil },
	})
}

// Find implements jobs.Finder.
func (d finder) Find(ctx context.Context, r jobs.Request) (ref jobs.Ref, found bool, err error) {
	in, err := d.read(r)
	if err != nil {
		return nil, false, err
	}
	if ref, err = d.refOfName(in); err != nil {
		return nil, false, err
	}
	_, err = d.Describe(ctx, ref)
	for _, e := range d.entry.Job.NaturalKey.NotFound {
		if err != nil && codeOf(err) == e.Code && strings.Contains(messageOf(err), e.Message) {
			return nil, false, nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	return ref, true, nil
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
			ref[javasdk.MemberName(a.member.Name)] = value
		}
	}
	d.describe.addOnly(ref)
	if len(ref) == 0 {
		return nil, fmt.Errorf("%s: the start call returned no reference to the job", d.name)
	}
	known, err := d.restoreStart(ref)
	if err != nil {
		return nil, err
	}
	for _, a := range d.stopArguments {
		value, err := a.value(started)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		name := javasdk.MemberName(a.member.Name)
		told, has := ref[name]
		if !has {
			told, _ = a.value(known) // what cannot be made of the reference is kept
		}
		if value != "" && told != value {
			ref[stopPrefix+name] = value
		}
	}
	return ref, nil
}

// restoreStart is what a reference says of the call that started its job.
func (d *job) restoreStart(ref jobs.Ref) (map[string]any, error) {
	started := map[string]any{}
	for _, a := range d.arguments {
		text, has := ref[javasdk.MemberName(a.member.Name)]
		path := strings.Split(a.text, ".")
		if !has || !memberPath().MatchString(a.text) {
			continue
		}
		value := any(text)
		if !isText(a.member.Shape) {
			doc, err := jsontree.Parse([]byte(text))
			if err != nil {
				return nil, fmt.Errorf("job reference of %s: %s: %w", d.name, a.member.Name, err)
			}
			value = respell(doc.Root, a.member.Shape, javasdk.MemberName, modelSpelling)
		}
		object := started
		for _, name := range path[:len(path)-1] {
			inner, ok := object[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				object[name] = inner
			}
			object = inner
		}
		object[path[len(path)-1]] = value
	}
	return started, nil
}

// memberPath is an expression that a value can be put back to.
var memberPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(input|output)(\.\w+)+$`) })

// value evaluates the argument; the empty string stands for none.
func (a *argument) value(started map[string]any) (string, error) {
	value, err := a.from.Eval(started)
	if err != nil {
		return "", fmt.Errorf("%s: %w", a.text, err)
	}
	if value == nil || value == "" {
		if a.member.Required || a.member.In == catalog.InPath {
			return "", fmt.Errorf("the start call returned no %s, which the describe and stop calls need", a.text)
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
		return "", fmt.Errorf("%s is the string %q, but %s is not a string", a.text, text, a.member.Name)
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
	return respell(doc.Root, a.member.Shape, modelSpelling, javasdk.MemberName), nil
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

// Stop implements jobs.Stopper. Arguments that the reference does not have are made
// of what it says of the start call.
func (d stopper) Stop(ctx context.Context, ref jobs.Ref) error {
	known, err := d.restoreStart(ref)
	if err != nil {
		return err
	}
	arguments := jobs.Ref{}
	for _, a := range d.stopArguments {
		name := javasdk.MemberName(a.member.Name)
		value, has := ref[stopPrefix+name]
		if !has {
			value, has = ref[name]
		}
		if !has {
			if value, err = a.value(known); err != nil {
				return fmt.Errorf("job reference of %s: %w", d.name, err)
			}
		}
		if value != "" {
			arguments[name] = value
		}
	}
	in, err := d.stop.fromRef(d.name, arguments)
	if err != nil {
		return err
	}
	out, err := d.stop.do(ctx, in, modelSpelling)
	if err == nil && d.refused != nil {
		err = d.refused.check(out)
	}
	if d.entry.Job.Stop.TakesEnded {
		return err
	}
	return jobs.StopResult(ctx, d, ref, err)
}
