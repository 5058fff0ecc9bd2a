package awsjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// FromCatalog returns a source of drivers for the waiters and jobs of a
// catalogue, by the names that NewDriver takes.
func FromCatalog(c *catalog.Catalog) jobs.Source {
	return func(e jobs.Environment, name string) (jobs.Driver, error) { return NewDriver(e.AWS, c, name) }
}

// Catalogue is a jobs.Maker of drivers for the waiters and jobs of AWS's
// catalogue that the environment names, and for a few more that are made when they
// are wanted. A function without it does not carry the catalogue.
func Catalogue(e jobs.Environment) (jobs.Driver, error) {
	return jobs.ByName(FromCatalog(catalog.AWS()), byDefault...)(e)
}

// byDefault are the jobs of the catalogue that each function has.
var byDefault = []string{
	"athena:StartQueryExecution",
	"dynamodb:ExportTableToPointInTime",
	"glue:StartJobRun",
	"redshift-data:ExecuteStatement",
	"states:StartExecution",
	"transcribe:StartTranscriptionJob",
}

// NewDriver returns the driver of a waiter or a job of the catalogue. The name
// "<key>:<start operation>" is that of a driver that starts jobs, and describes
// and stops them as the catalogue says. "<key>:<waiter>" is that of a driver
// that only polls, for what somebody else starts.
//
// Its error wraps jobs.ErrUnknownJob if the catalogue has no such entry, and
// ErrUnsupported if one of its operations cannot be called.
func NewDriver(cfg aws.Config, c *catalog.Catalog, name string) (jobs.Driver, error) {
	named, err := c.Extract(name)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", jobs.ErrUnknownJob, err)
	} else if err != nil {
		return nil, err
	}
	entry := named.Entry
	d := described{name: name, entry: entry, needed: named.Permissions()}
	client := New(cfg)
	if d.describe, err = client.prepare(entry.Operation); err != nil {
		return nil, err
	}
	in, out := entry.Operation.Input.Describe(), entry.Operation.Output.Describe()
	if d.waiter, err = pollcore.RenameMembers(entry.Waiter, in, out, javasdk.MemberName); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := d.compilePaths(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !named.Starts {
		return &poll{d}, nil
	}
	// What may have had its effect is not repeated.
	return newJob(d, client, New(cfg, WithoutRetries()))
}

// described is what the drivers of waiters and of jobs have in common.
type described struct {
	name     string
	entry    *catalog.Entry
	needed   []access.Permission
	describe *call
	waiter   *pollcore.Waiter
	end      *jmespath.Program // finds the end time in an output; nil for none
	status   *jmespath.Program // finds the status, if it tells a job that was stopped
}

// Name implements jobs.Driver.
func (d *described) Name() string { return d.name }

// IsInCatalogue implements jobs.Listed.
func (*described) IsInCatalogue() bool { return true }

// Permissions implements jobs.Driver. They are those of every call: an argument such as
// a key may need more.
func (d *described) Permissions() []access.Permission {
	var all []access.Permission
	for _, p := range d.needed {
		if !p.Optional {
			all = append(all, p)
		}
	}
	return all
}

// Waiter implements jobs.Driver. It reads outputs as Describe spells them.
func (d *described) Waiter() *pollcore.Waiter { return d.waiter }

// Describe implements jobs.Driver.
func (d *described) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	in, err := d.describe.fromRef(d.name, ref)
	if err != nil {
		return nil, err
	}
	return d.describe.do(ctx, in, javasdk.MemberName)
}

// compilePaths compiles what the catalogue says of the outputs of a job.
func (d *described) compilePaths() (err error) {
	job := d.entry.Job
	if job == nil {
		return nil
	}
	if d.end, err = compilePath(d.entry, job.EndTime); err == nil && job.Stop != nil && len(job.Stop.Statuses) > 0 {
		d.status, err = compilePath(d.entry, job.Status)
	}
	return err
}

// poll is the driver of a waiter: its Start only keeps the arguments, which are
// those of the describe call.
type poll struct{ described }

// Idempotency implements jobs.Driver: the arguments name what is waited for.
func (*poll) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByNaturalKey}
}

// Start implements jobs.Driver. It starts nothing and calls nothing.
func (p *poll) Start(_ context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := p.describe.read(r.Arguments, reading{spell: javasdk.MemberName, name: p.name})
	if err != nil {
		return nil, err
	}
	ref := jobs.Ref{}
	for _, m := range members(p.entry.Operation) {
		if n := in.root.Get(javasdk.MemberName(m.Name)); n != nil {
			ref[javasdk.MemberName(m.Name)] = refText(n.Value())
		}
	}
	p.describe.addOnly(ref)
	if len(ref) == 0 {
		return nil, fmt.Errorf("%w of %s: expected at least one member of %s that says what to wait for, found none",
			jobs.ErrArguments, p.name, p.entry.Operation.Name)
	}
	return ref, nil
}

// Find implements jobs.Finder: what is waited for is there without a start.
func (p *poll) Find(ctx context.Context, r jobs.Request) (ref jobs.Ref, found bool, err error) {
	ref, err = p.Start(ctx, r)
	return ref, err == nil, err
}

// members are those of an operation's input.
func members(op *catalog.Operation) catalog.Members {
	if op.Input == nil {
		return nil
	}
	return op.Input.Members
}

// refText is a value as a reference holds it: a string as it is, anything else
// as JSON.
func refText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was JSON
	}
	return string(text)
}

// isText reports whether values of the shape are strings of JSON.
func isText(shape *catalog.Shape) bool {
	switch shape.Type {
	case catalog.String, catalog.Timestamp, catalog.Blob:
		return true
	default:
		return false
	}
}

// only is the member of a reference to what a call without input is about: there is one
// in the account, and a reference is not empty. Its value is the operation's name.
const only = "Operation"

// addOnly makes the reference of a call without input.
func (c *call) addOnly(ref jobs.Ref) {
	if len(members(c.op)) == 0 {
		ref[only] = c.op.Name
	}
}

// fromRef makes the input of a call from a reference, whose other members are
// for the stop call.
func (c *call) fromRef(name string, ref jobs.Ref) (*input, error) {
	object := map[string]json.RawMessage{}
	isOnly := len(members(c.op)) == 0 && ref[only] == c.op.Name
	for member, value := range ref {
		if strings.HasPrefix(member, stopPrefix) || isOnly && member == only {
			continue
		}
		var shape *catalog.Shape
		for _, m := range members(c.op) {
			if javasdk.MemberName(m.Name) == member {
				shape = m.Shape
			}
		}
		switch {
		case shape == nil:
			return nil, fmt.Errorf("job reference of %s has the member %q, which the input of %s does not have", name, member, c.op.Name)
		case isText(shape):
			text, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			object[member] = text
		case !json.Valid([]byte(value)):
			return nil, fmt.Errorf("job reference of %s has the member %q, which is not JSON", name, member)
		default:
			object[member] = json.RawMessage(value)
		}
	}
	if len(object) == 0 && !isOnly {
		return nil, fmt.Errorf("job reference of %s is empty", name)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return c.read(text, reading{spell: javasdk.MemberName, unseen: true, name: "the job reference of " + name})
}
