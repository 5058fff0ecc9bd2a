// Package fix replaces hand-written poll loops of a definition by compiled ones, and
// leaves the rest of the text as it is.
package fix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Options are what is replaced, and by what.
type Options struct {
	// Only are the loops to replace, by the names of the Tasks that poll; all if
	// empty.
	Only []string
	// MaxWait is how long the compiled loops wait. If it is 0, a loop waits as long
	// as the one that it replaces did.
	MaxWait time.Duration
	// JobRuns is how long the jobs of the Trials last; 12 minutes if it is 0.
	JobRuns time.Duration
	// Models are the APIs of services, as models.Load of pollcore/catalog/models.
	Models typecheck.Models
}

// Loop is what became of a poll loop.
type Loop struct {
	// Poll is the Task that polls, and Operation what it polls:
	// "athena:GetQueryExecution".
	Poll      string `json:"poll"`
	Operation string `json:"operation"`
	// Refused says why the loop stays as it is; empty if it was replaced.
	Refused string `json:"refused,omitempty"`
	// Entry is the entry of the catalogue that the new loop is compiled from, and
	// MaxWait how long it waits.
	Entry   string        `json:"entry,omitempty"`
	MaxWait time.Duration `json:"-"`
	// Routes are where each status leads, before and after.
	Routes []Route `json:"routes,omitempty"`
	// Trials compare both loops on jobs that last as long as Options.JobRuns.
	Trials []Trial `json:"trials,omitempty"`
}

// Route is where a status of the job leads.
type Route struct {
	Status string `json:"status"`
	// Before and After are states behind the loop; empty if the loop polls on.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Apply replaces the poll loops of a definition, in JSON, and returns its new text.
// The error is that of asl.Parse.
func Apply(ctx context.Context, text []byte, o Options) ([]byte, []Loop, error) {
	m, err := asl.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	var found []Loop
	for _, l := range pollLoops(m) {
		if len(o.Only) > 0 && !slices.Contains(o.Only, l.Poll.Name) {
			continue
		}
		_, done, fixed, err := replaceOne(ctx, text, l.Poll.Name, o)
		if reason, ok := reasonOf(err); ok {
			fixed.Refused = reason
		} else if err != nil {
			return nil, nil, err
		} else {
			text = done
		}
		found = append(found, fixed)
	}
	return text, found, nil
}

// pollLoops are the loops that poll an operation of the catalogue.
func pollLoops(m *asl.StateMachine) []lint.Loop {
	return slices.DeleteFunc(lint.Loops(m, lint.Options{}), func(l lint.Loop) bool {
		return l.Poll == nil || l.Operation == "" || asl.ParseResource(l.Poll.Task.Resource).Service == "lambda"
	})
}

// refusal is why a loop is not replaced.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// reasonOf is the reason of a refusal.
func reasonOf(err error) (reason string, ok bool) {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return "", false
	}
	return refused.reason, true
}

// replaceOne replaces one loop of a definition in JSON.
func replaceOne(ctx context.Context, text []byte, poll string, o Options) (*fragment, []byte, Loop, error) {
	m, err := asl.Parse(text)
	if err != nil {
		return nil, nil, Loop{}, err
	}
	all := pollLoops(m)
	i := slices.IndexFunc(all, func(l lint.Loop) bool { return l.Poll.Name == poll })
	if i < 0 {
		return nil, nil, Loop{Poll: poll}, refuse("the loop changed with another that was replaced")
	}
	out := Loop{Poll: poll, Operation: all[i].Operation}
	l, err := readLoop(m, text, all[i])
	if err != nil {
		return nil, nil, out, err
	}
	before, err := l.observe(ctx, o)
	if err != nil {
		return nil, nil, out, err
	}
	out.Entry = l.entry.FullName()
	f, err := l.compile(before, o)
	if err != nil {
		return nil, nil, out, err
	}
	out.MaxWait = f.maxWait
	done, err := f.edit(text)
	if err != nil {
		return nil, nil, out, err
	}
	after, err := f.verify(ctx, done, o)
	if err != nil {
		return nil, nil, out, err
	}
	for i, b := range before.seen {
		out.Routes = append(out.Routes, Route{Status: b.status, Before: b.exit, After: after.seen[i].exit})
	}
	out.Trials, err = f.measure(ctx, before, after, o)
	return f, done, out, err
}

// MarshalJSON writes the members, with MaxWait in seconds.
func (l Loop) MarshalJSON() ([]byte, error) {
	type members Loop
	return json.Marshal(struct {
		members

		MaxWaitSeconds float64 `json:"maxWaitSeconds,omitempty"`
	}{members(l), l.MaxWait.Seconds()})
}
