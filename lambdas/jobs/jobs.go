// Package jobs defines drivers: code that starts, describes and stops one type
// of job. A driver does no polling and keeps no state; the poller decides when
// to call it and what its answers mean.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// MaxPayloadBytes is the largest JSON text that a job can be given or can
// answer with: what Step Functions passes between states, asl.MaxPayloadBytes.
// The functions link no state machines, so the number stands here too.
const MaxPayloadBytes = 256 << 10

// Driver starts and describes one type of job. It is safe for concurrent use.
type Driver interface {
	// Name is what a request calls the job, as "service:Operation".
	Name() string
	// Waiter says what "done" means for the job, over Describe's output.
	Waiter() *pollcore.Waiter
	// Idempotency says what protects the job of a request from being started
	// twice. Most drivers say the same for every request.
	Idempotency(r Request) Idempotency
	// Permissions lists what the roles of the functions must allow, besides
	// what their store needs: each for the method that calls it.
	Permissions() []access.Permission
	// Start starts the job and returns at once. An error wraps ErrArguments
	// if the arguments cannot be used, else it is the service's own. It tells
	// of the whole call: unless the class is ByToken without a window, the
	// driver's client must not retry what may have had its effect, since a
	// refusal of the second try would hide that of the first.
	Start(ctx context.Context, r Request) (Ref, error)
	// Describe returns what the service says of the job now, in the form of a
	// Step Functions SDK integration's result (see Output). Its error is the
	// service's own, so that the waiter's errorType acceptors can match it: by its
	// method ErrorCode() string, which the AWS SDK's errors have, or by the name of
	// its Go type. It may be wrapped. An error without an acceptor fails the wait,
	// unless goerror.Classify says that it passes. The log has its code, and what a
	// method OwnWords() string returns: text without a value of the arguments.
	Describe(ctx context.Context, ref Ref) (any, error)
}

// Finder is a Driver that can tell whether a request has started its job
// already, by a name or tag that Start derives from the token.
type Finder interface {
	Find(ctx context.Context, r Request) (ref Ref, found bool, err error)
}

// Stopper is a Driver that can stop its jobs. Stop returns nil once the service
// has taken the order, or if the job has ended already: whether it has, and how,
// is for Describe to say.
type Stopper interface {
	Stop(ctx context.Context, ref Ref) error
}

// EndTimer is a Driver whose service says when a job ended.
type EndTimer interface {
	// EndTime returns when the job ended that an output of Describe is about; ok is
	// false if the output does not say it.
	EndTime(output any) (at time.Time, ok bool)
}

// StopTeller is a Driver whose service tells a job that was stopped from one that failed
// by itself.
type StopTeller interface {
	// WasStopped reports whether the job was stopped whose failure an output of Describe
	// tells; known is false if the output does not say it.
	WasStopped(output any) (stopped, known bool)
}

// Listed is a Driver that may be made of the catalogue: "jobpoller records adopt" then
// makes its reference from the job's ID.
type Listed interface{ IsInCatalogue() bool }

// Announcer is a Driver whose service tells Amazon EventBridge when a job has ended.
type Announcer interface {
	// JobIDs returns the ids that the service's events have for the job: one, or one for
	// each of its parts.
	JobIDs(ref Ref) ([]string, error)
	// ReadEvent returns the id of the job that an event tells of; ok is false if the
	// event is of something else. The event is a JSON value.
	ReadEvent(event map[string]any) (id string, ok bool)
}

// BatchDescriber is a Driver that can describe many jobs in one call.
type BatchDescriber interface {
	// Batch says how the job is described together with others.
	Batch(ref Ref) (Batch, error)
	// DescribeBatch describes jobs of one group, whose sizes together are at most Max.
	// The outputs are in the order of the references, each as Describe returns it. An
	// output is nil where the answer does not have the job, which says nothing of it:
	// Describe tells.
	DescribeBatch(ctx context.Context, refs []Ref) ([]any, error)
}

// Batch says how a job is described together with others.
type Batch struct {
	// Group is the same for jobs that may be described in one call.
	Group string
	// Size is how much of a call the job takes, and Max how much there is of it.
	Size, Max int
}

// Request asks for a job.
type Request struct {
	// Arguments is the JSON object that the request carries for Start.
	Arguments json.RawMessage
	// Token is the same each time the same job is asked for, and differs
	// between jobs: 36 hexadecimal characters.
	Token string
}

// Ref names a job that has been started: what Describe needs, and what people
// need to find it.
type Ref map[string]string

// Class is how a service protects a job from being started twice.
type Class string

// The idempotency classes.
const (
	// ByToken: the service returns the first job for a token it has seen.
	ByToken Class = "token"
	// ByNaturalKey: the job has a name or tag by which Find finds it.
	ByNaturalKey Class = "naturalKey"
	// NoProtection: a second start is a second job, so an unclear first start
	// must not be followed by another.
	NoProtection Class = "none"
)

// Idempotency is a class and how long it lasts.
type Idempotency struct {
	Class Class
	// Window is how long the service remembers a token; 0 means for as long
	// as the start record lives.
	Window time.Duration
}

// Remembers tells whether the service still knows the token of a start call after so long, and
// starts no second job.
func (i Idempotency) Remembers(after time.Duration) bool {
	return i.Class == ByToken && (i.Window == 0 || after < i.Window)
}

var (
	// ErrArguments means that the request's arguments cannot be used as they are.
	ErrArguments = goerror.Mark(awserror.Refused, errors.New("invalid job arguments"))
	// ErrUnknownJob means that no driver has the name.
	ErrUnknownJob = errors.New("unknown job")
	// ErrNotConfigured means that the environment lacks what a driver needs:
	// see NotConfiguredError.
	ErrNotConfigured = errors.New("job is not configured")
)

// NotConfiguredError is the ErrNotConfigured of a job.
type NotConfiguredError struct {
	Job  string
	Lack string // what the environment lacks, such as "JOBPOLLER_BUCKET is not set"
}

// Error implements error.
func (e *NotConfiguredError) Error() string {
	return fmt.Sprintf("%s is not configured: %s", e.Job, e.Lack)
}

// Unwrap returns ErrNotConfigured.
func (*NotConfiguredError) Unwrap() error { return ErrNotConfigured }

// Maker builds the driver of a Lambda function. Its error is a
// *NotConfiguredError if the environment says nothing of the driver: the
// function does without it, unless it was told to have it.
type Maker func(Environment) (Driver, error)

// Source makes drivers by name: of a catalogue that has more jobs than anybody
// wants at once. Its error wraps ErrUnknownJob if it does not know the name.
type Source func(e Environment, name string) (Driver, error)

// ByName returns a Maker of the drivers of a source: Build asks the source for
// those of Environment.Jobs that no other Maker has a driver for. The registry has
// the defaults, too, and asks the source for each when it is wanted first. The Maker
// is of use to Build alone.
func ByName(source Source, defaults ...string) Maker {
	return func(Environment) (Driver, error) { return sourced{source: source, defaults: defaults}, nil }
}

// sourced carries a source to Build.
type sourced struct {
	Driver

	source   Source
	defaults []string
}

// Environment is what the store and the drivers of a Lambda function are built
// from.
type Environment struct {
	AWS aws.Config
	S3  *s3.Client
	// Bucket and Prefix are where the function keeps objects: its start
	// records, unless they are in a table, and those of drivers, each under a
	// folder of Prefix. Bucket is empty if there is none.
	Bucket, Prefix string
	// Jobs are the names of the jobs that the function is to have; empty for
	// all that are configured.
	Jobs []string
	// Getenv returns an environment variable, or the empty string.
	Getenv func(name string) string
}

// Registry holds drivers by name.
type Registry struct {
	drivers map[string]Driver
	later   map[string]func() (Driver, error) // drivers that are made when they are wanted first
	missing map[string]error                  // why a job has no driver, where that is known
	// dropped returns the driver of a job that is not to be started; nil if there
	// is none.
	dropped func(name string) (Driver, error)
}

// NewRegistry returns a registry of the drivers; two of one name are an error.
func NewRegistry(drivers ...Driver) (*Registry, error) {
	r := &Registry{drivers: map[string]Driver{}, missing: map[string]error{}}
	for _, d := range drivers {
		if _, ok := r.drivers[d.Name()]; ok {
			return nil, fmt.Errorf("two drivers are registered for the job %s", d.Name())
		}
		r.drivers[d.Name()] = d
	}
	return r, nil
}

// Build returns a registry of the drivers that the environment configures, and
// of those that it names and a source has. Asked for one of the others it says
// what that lacks. All other problems of the makers are returned at once, and what
// the drivers lack if the environment configures none.
func Build(e Environment, makers ...Maker) (*Registry, error) {
	var built []Driver
	var sources []Source
	later := map[string]func() (Driver, error){}
	var lacks []*NotConfiguredError
	var problems []error
	for _, newDriver := range makers {
		driver, err := newDriver(e)
		if lack, ok := errors.AsType[*NotConfiguredError](err); ok {
			lacks = append(lacks, lack)
		} else if err != nil {
			problems = append(problems, err)
		} else if of, ok := driver.(sourced); ok {
			sources = append(sources, of.source)
			for _, name := range of.defaults {
				later[name] = sync.OnceValues(func() (Driver, error) { return of.source(e, name) })
			}
		} else {
			built = append(built, driver)
		}
	}
	if len(built)+len(sources) == 0 { // say why there is none
		for _, lack := range lacks {
			problems = append(problems, lack)
		}
	}
	r, err := NewRegistry(built...)
	if err := errors.Join(append(problems, err)...); err != nil {
		return nil, err
	}
	r.later = later
	maps.DeleteFunc(r.later, func(name string, _ func() (Driver, error)) bool { return r.drivers[name] != nil })
	for _, lack := range lacks {
		r.missing[lack.Job] = lack
	}
	made := slices.Sorted(maps.Keys(r.missing))
	made = append(made, r.Names()...)
	for _, name := range e.Jobs {
		r.ask(e, name, sources, made)
	}
	r.dropped = func(name string) (Driver, error) {
		asked := &Registry{drivers: map[string]Driver{}, missing: map[string]error{}}
		asked.ask(e, name, sources, made)
		return asked.Driver(name)
	}
	return r, nil
}

// Only returns the registry of some of the drivers: no other job is started. PollDriver
// still has them all.
func (r *Registry) Only(drivers ...Driver) (*Registry, error) {
	only, err := NewRegistry(drivers...)
	if err != nil {
		return nil, err
	}
	only.dropped = r.PollDriver
	return only, nil
}

// Names lists the jobs there are drivers for, sorted.
func (r *Registry) Names() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(r.drivers)), maps.Keys(r.later))))
}

// Driver returns the driver of a job, or ErrUnknownJob with the names there
// are, or ErrNotConfigured if the environment lacks what the job needs.
func (r *Registry) Driver(name string) (Driver, error) {
	if d, ok := r.drivers[name]; ok {
		return d, nil
	}
	if newDriver, ok := r.later[name]; ok {
		return newDriver()
	}
	if err, ok := r.missing[name]; ok {
		return nil, err
	}
	message := fmt.Sprintf("%q is not a job of this function; its jobs: %s", name, strings.Join(r.Names(), ", "))
	return nil, fmt.Errorf("%w: %s%s", ErrUnknownJob, message, nearest.DidYouMean(name, r.Names()))
}

// PollDriver returns the driver of a job that has been started: also of one that the
// registry starts no more, so that it is polled to its end. Its error is that of
// Driver.
func (r *Registry) PollDriver(name string) (Driver, error) {
	driver, err := r.Driver(name)
	if err == nil || r.dropped == nil {
		return driver, err
	}
	if dropped, droppedErr := r.dropped(name); droppedErr == nil {
		return dropped, nil
	}
	return nil, err
}

// ask asks the sources for the driver of a job that there is none for. Of the
// names that have a Maker of their own the sources know nothing.
func (r *Registry) ask(e Environment, name string, sources []Source, made []string) {
	for _, source := range sources {
		if r.drivers[name] != nil || r.missing[name] != nil && !errors.Is(r.missing[name], ErrUnknownJob) {
			return
		}
		driver, err := source(e, name)
		if near := nearest.Word(name, made); errors.Is(err, ErrUnknownJob) && near != "" {
			err = fmt.Errorf("%w%s", err, nearest.Question(near))
		}
		if err != nil {
			r.missing[name] = err
		} else {
			r.drivers[name] = driver
			delete(r.missing, name)
			delete(r.later, name)
		}
	}
}
