package handlertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// moment is when a function dies: before a call has its effect, or after.
type moment string

const (
	beforeCall moment = "before"
	afterCall  moment = "after"
)

// crash is the death of a function at the nth call of a run, from 1; 0 is none.
type crash struct {
	call int
	when moment
}

// killed is what a function panics with where it dies.
type killed struct{}

// call is a call that a function made.
type call struct {
	function string
	name     string
	at       time.Time
	says     string // what came of it
}

// journal notes the calls of a run, and lets a function die at one of them.
type journal struct {
	t          T
	clock      *sim.Clock
	crash      crash
	protection jobs.Idempotency

	calls  []call
	jobs   []string // that were started, by their references
	starts int      // as the services of the run count them
}

type functionKey struct{}

// functions are the functions, which report their death as Lambda does.
func (j *journal) functions(all map[string]sim.LambdaFunction) map[string]sim.LambdaFunction {
	mortal := map[string]sim.LambdaFunction{}
	for name, function := range all {
		mortal[name] = func(ctx context.Context, payload []byte) (result []byte, err error) {
			defer func() {
				switch thrown := recover(); thrown {
				case nil:
				case killed{}:
					result, err = nil, &sim.FunctionError{Type: "Runtime.ExitError", Message: "the function died"}
				default:
					panic(thrown)
				}
			}()
			return function(context.WithValue(ctx, functionKey{}, strings.TrimPrefix(name, "jobpoller-")), payload)
		}
	}
	return mortal
}

var errDied = errors.New("the function died")

// collect is the collector, which can die: its messages are delivered again.
func (j *journal) collect(function localloop.Collect) localloop.Collect {
	return func(ctx context.Context, payload json.RawMessage) (collected *handler.Collected, err error) {
		defer func() {
			switch thrown := recover(); thrown {
			case nil:
			case killed{}:
				collected, err = nil, errDied
			default:
				panic(thrown)
			}
		}()
		return function(context.WithValue(ctx, functionKey{}, "collector"), payload)
	}
}

// around is a localloop.Around.
func (j *journal) around(ctx context.Context, c *localloop.Call, do func() error) error {
	function, _ := ctx.Value(functionKey{}).(string)
	n := len(j.calls)
	j.calls = append(j.calls, call{function: function, name: c.Name, at: j.clock.Now(), says: "does not return"})
	if j.crash == (crash{n + 1, beforeCall}) {
		j.calls[n].says = "never sent: the function dies"
		panic(killed{})
	}
	err := j.await(c.Name, do)
	j.calls[n].says = "done"
	if err != nil {
		j.calls[n].says = "error: " + err.Error()
	}
	if c.Name == "Start" && err == nil {
		j.calls[n].says = "started " + text(c.Ref)
		if !slices.Contains(j.jobs, text(c.Ref)) {
			j.jobs = append(j.jobs, text(c.Ref))
		}
	}
	if j.crash == (crash{n + 1, afterCall}) {
		j.calls[n].says += ", and the function dies"
		panic(killed{})
	}
	return err
}

// patience is how long a call may take, in real time: less than the functions give
// it. Virtual time stands still meanwhile, so a call that waits for it blocks.
const patience = 10 * time.Second

// await returns what the call returns, and fails the test if the call blocks.
func (j *journal) await(name string, do func() error) error {
	j.t.Helper()
	type end struct {
		err    error
		thrown any
		exits  bool // by runtime.Goexit, as t.FailNow does
	}
	ended := make(chan end, 1)
	go func() {
		e := end{exits: true}
		defer func() {
			if e.thrown = recover(); e.thrown != nil {
				e.thrown = fmt.Sprintf("%v\n\n%s", e.thrown, debug.Stack())
			}
			ended <- e
		}()
		e.err = do()
		e.exits = false
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case e := <-ended:
		switch {
		case e.thrown != nil:
			panic(e.thrown)
		case e.exits:
			runtime.Goexit()
		}
		return e.err
	case <-limit.C:
		j.t.Fatalf("handlertest: call %d (%s) did not return within %v. Time is virtual: let the service answer at once and read the time from World.Now\n%s",
			len(j.calls), name, patience, j.lastCalls())
		return nil
	}
}

// lastCalls shows the last calls of a run.
func (j *journal) lastCalls() string {
	var b strings.Builder
	b.WriteString("The last calls of this run:\n")
	for n := max(0, len(j.calls)-lead); n < len(j.calls); n++ {
		b.WriteString(j.line(n, " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// line shows the call n, from 0.
func (j *journal) line(n int, mark string) string {
	c := j.calls[n]
	return fmt.Sprintf("%s %3d  %-8s  %-11s  %-8s  %s\n", mark, n+1, c.at.Sub(sim.DefaultStart()), c.function, c.name, c.says)
}

func text(ref jobs.Ref) string {
	out, _ := json.Marshal(ref) //nolint:errchkjson // strings
	return string(out)
}

// end is how a run ended, as far as a crash must not change it.
func (o outcome) end() string {
	if o.Error != "" {
		return fmt.Sprintf("%s with %s", o.Status, o.Error)
	}
	var result struct {
		Status string          `json:"status"`
		Job    json.RawMessage `json:"job"`
		Output json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(o.Output, &result); err != nil || result.Status == "" {
		return fmt.Sprintf("%s with %s", o.Status, o.Output) // of another definition
	}
	return fmt.Sprintf("%s with the result %s of the job %s: %s", o.Status, result.Status, result.Job, result.Output)
}

// findSecondJob says why there is a second job, if there is one.
func (o outcome) findSecondJob() string {
	if len(o.jobs) < 2 && o.starts < 2 {
		return ""
	}
	if len(o.jobs) < 2 {
		return fmt.Sprintf("the service has started %d jobs, and Start returned the reference of one: let Start send one request that starts a job", o.starts)
	}
	problem := fmt.Sprintf("the job was started twice: %s", strings.Join(o.jobs, " and "))
	switch o.protection.Class {
	case jobs.ByToken:
		problem += "\nThe driver says that a token protects it: pass Request.Token to the service in Start, the same each time."
	case jobs.ByNaturalKey:
		problem += "\nThe driver says that a natural key protects it: let Start derive the key from Request.Token, and Find look for it."
	default:
		problem += "\nThe driver says that nothing protects it, so run-job must not start it again: this is a bug in jobpoller."
	}
	return problem
}

// compare says what is wrong with a run that had a crash, if anything is.
func (o outcome) compare(calm outcome) string {
	protected := o.protection.Class != jobs.NoProtection && o.protection.Window == 0
	second := o.findSecondJob()
	switch {
	case second != "":
		return second
	case o.end() == calm.end():
		return ""
	case !protected && strings.HasSuffix(o.end(), handler.ErrorJobStartUnknown):
		return ""
	default:
		problem := fmt.Sprintf("the result was lost: the execution ended as %s\nwithout the crash it ends as %s", o.end(), calm.end())
		if o.Cause != "" {
			problem += "\ncause: " + o.Cause
		}
		return problem
	}
}

// failure is a run that a crash has made wrong.
type failure struct {
	outcome

	problem string
}

func (f failure) place() string {
	c := f.calls[f.crash.call-1]
	return fmt.Sprintf("%s dies %s call %d (%s)", c.function, f.crash.when, f.crash.call, c.name)
}

// lead is how many calls of a run are shown before and after the crash.
const lead = 6

// describe tells of the first failure with its calls, and names the others.
func describe(wrong []failure, runs int) string {
	first := wrong[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", first.place(), first.problem)
	fmt.Fprintf(&b, "The calls of this run:\n")
	from, to := max(0, first.crash.call-1-lead), min(len(first.calls), first.crash.call+lead)
	for n := from; n < to; n++ {
		mark := " "
		if n+1 == first.crash.call {
			mark = ">"
		}
		b.WriteString(first.line(n, mark))
	}
	if len(wrong) > 1 {
		fmt.Fprintf(&b, "%d of %d crashes go wrong. The others:", len(wrong), runs)
		for i, f := range wrong[1:] {
			if i == lead {
				fmt.Fprintf(&b, " ... and %d more", len(wrong)-1-lead)
				break
			}
			fmt.Fprintf(&b, " %s;", f.place())
		}
	}
	return strings.TrimSuffix(b.String(), ";")
}
