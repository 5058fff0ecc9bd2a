package servicetask

import (
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// sync is what is known of the job of a Task that ends with it.
type sync struct {
	entry     *catalog.Entry
	check     *pollcore.Check[any, any]
	arguments map[string]*jmespath.Program
	stop      *catalog.Operation // nil if no call stops the job
	stopWith  map[string]*jmespath.Program
}

// newSync finds the job that the integration waits for.
func newSync(r asl.Resource, start *catalog.Operation) (*sync, error) {
	entry, err := simulate.SyncJob(r, start)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, fmt.Errorf("%w: the catalogue does not know how %s:%s%s waits", ErrNotCallable, r.Service, r.Action, r.Pattern)
	}
	s := &sync{entry: entry}
	if s.check, err = pollcore.Compile[any, any](entry.Waiter); err != nil {
		return nil, err
	}
	if s.arguments, err = compileAll(entry.Job.Arguments); err != nil {
		return nil, err
	}
	if entry.Job.Stop == nil {
		return s, nil
	}
	s.stop = entry.Service.Operations[entry.Job.Stop.Operation]
	s.stopWith, err = compileAll(entry.Job.Stop.Arguments)
	return s, err
}

func compileAll(texts map[string]string) (map[string]*jmespath.Program, error) {
	programs := make(map[string]*jmespath.Program, len(texts))
	for member, text := range texts {
		expression, err := jmespath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member, err)
		}
		programs[member], _ = expression.Compile(nil)
	}
	return programs, nil
}

// inputOf is the input of a call about a job, out of those of its start call.
func inputOf(programs map[string]*jmespath.Program, input, output any) (map[string]any, error) {
	out := make(map[string]any, len(programs))
	for member, p := range programs {
		value, err := p.Eval(map[string]any{"input": input, "output": output})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member, err)
		}
		if value != nil {
			out[member] = value
		}
	}
	return out, nil
}
