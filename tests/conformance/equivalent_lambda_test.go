package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// driver is a job of the Lambda functions: describing it asks the player.
type driver struct {
	*machine
	*player

	clock *sim.Clock
	// spent is how long the invocation has taken so far: the clock stands still
	// meanwhile.
	spent time.Duration
	job   string
}

func (d *driver) Name() string             { return d.job }
func (d *driver) Waiter() *pollcore.Waiter { return d.entry.Waiter }
func (d *driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken}
}
func (d *driver) Permissions() []access.Permission { return nil }

func (d *driver) Start(context.Context, jobs.Request) (jobs.Ref, error) {
	return jobs.Ref{"Job": "1"}, nil
}

func (d *driver) Describe(context.Context, jobs.Ref) (any, error) {
	d.spent += d.Latency
	a, fault := d.next(d.now().Sub(sim.DefaultStart()))
	switch {
	case fault != "":
		return nil, &smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded"}
	case a.Err != nil:
		return nil, a.Err
	default:
		return responses.Integration(d.entry.Operation.Output, a.Output), nil
	}
}

func (d *driver) now() time.Time { return d.clock.Now().Add(d.spent) }

// functions is the handler of the two Lambda functions with the player behind
// them.
func (m *machine) functions(t *testing.T, p *player, clock *sim.Clock, called func(time.Time)) sim.Handler {
	t.Helper()
	d := &driver{machine: m, player: p, clock: clock, job: compile.CallOf(m.entry).Job}
	registry, err := jobs.NewRegistry(d)
	require.NoError(t, err)
	handlers, err := handler.New(handler.Config{Store: memstore.New(d.now), Jobs: registry, Now: d.now, NoDwell: true})
	require.NoError(t, err)
	functions := localloop.Functions(handlers)
	check := functions[statemachines.CheckStatusFunction]
	functions[statemachines.CheckStatusFunction] = func(ctx context.Context, payload []byte) ([]byte, error) {
		called(clock.Now())
		return check(ctx, payload)
	}
	invoke := sim.LambdaInvoke(functions)
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		d.spent = 0
		reply, err := invoke(ctx, call)
		reply.Latency = d.spent
		if failure, ok := errors.AsType[*sim.TaskError](err); ok {
			failure.Latency = d.spent
		}
		return reply, err
	}
}

// told is what the functions say of an error of theirs: the message in the Cause.
func told(cause string) string {
	var failure struct {
		Message string `json:"errorMessage"`
	}
	if json.Unmarshal([]byte(cause), &failure) != nil {
		return cause
	}
	return failure.Message
}
