package sim

import (
	"context"
	"errors"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// objectCall is a call of a handler that reads or writes the objects of a distributed Map.
type objectCall struct {
	strand *strand
	cancel context.CancelFunc
	done   bool
	reply  func(reply Reply, err error)
}

// callObjects calls a handler, and then reply, unless the state has ended by then.
func (s *strand) callObjects(h Handler, resource string, arguments any, reply func(Reply, error)) {
	r := s.x.run
	ctx, cancel := context.WithCancel(r.ctx)
	c := &objectCall{strand: s, cancel: cancel, reply: reply}
	s.attempt = c
	r.handle(ctx, h, Call{
		Resource: resource, State: s.state.Name, Arguments: arguments, Context: s.context(), Iterations: s.iterations, Time: r.now,
	}, c.end)
}

// abandon ends the call without an outcome.
func (c *objectCall) abandon() {
	c.done = true
	c.cancel()
}

func (c *objectCall) end(reply Reply, err error) {
	s := c.strand
	if c.done || !s.alive() {
		return
	}
	c.abandon()
	s.attempt, s.x.run.current = nil, s
	c.reply(reply, err)
}

// objectHandler returns what does an operation on objects, and the resource to call it
// with. The resource is that of a handler of its own; a handler for all Tasks knows only
// the integration of the SDK.
func (o *Options) objectHandler(resource string, own func(resource string) Handler) (h Handler, of string) {
	sdk := sdkResource(resource)
	for _, of := range []string{resource, sdk} {
		if h := own(of); h != nil {
			return h, of
		}
	}
	return o.Handler, sdk
}

// ObjectResources are the operations of S3 by which a distributed Map reads its items and
// writes its results, as resources of the SDK's integration. Handlers for them do both.
func ObjectResources(s *asl.State) []string {
	var all []string
	add := func(resource, action string) {
		all = append(all, sdkResource(resource[:strings.LastIndexByte(resource, ':')+1]+action))
	}
	if s.Map == nil {
		return nil
	}
	if r := s.Map.ItemReader; r != nil {
		if strings.HasSuffix(r.Resource, ":listObjectsV2") {
			add(r.Resource, "listObjectsV2")
		}
		add(r.Resource, "getObject")
	}
	if w := s.Map.ResultWriter; w != nil && w.Resource != "" {
		add(w.Resource, "putObject")
	}
	return all
}

func sdkResource(resource string) string {
	return strings.Replace(resource, ":::s3:", ":::aws-sdk:s3:", 1)
}

// objectFailure is the failure of a state whose handler of objects returned an error. An
// error that is no *TaskError ends Run; in a World it fails the state.
func (s *strand) objectFailure(name string, err error) *failure {
	r := s.x.run
	failed, isTask := errors.AsType[*TaskError](err)
	switch {
	case isTask:
		return &failure{name: name, cause: cutCause(failed.Name + ": " + failed.Cause)}
	case r.world != nil:
		return &failure{name: name, cause: cutCause(err.Error())}
	case r.caller.Err() != nil:
		r.abort()
	default:
		r.fail(err)
	}
	return &failure{name: name}
}
