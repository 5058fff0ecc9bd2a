package show

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/wait"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// uses says where an entry can be used: as the job of a request, by "jobpoller
// compile" and by "jobpoller wait".
func uses(e *catalog.Entry) []string {
	return append(asJob(e), asStateMachine(e), strings.TrimSpace(fmt.Sprintf("jobpoller wait %s %s %s", e.Service.Key, e.Name, wait.ArgumentsOf(e))))
}

// asStateMachine lists the strategies that compile the entry: as it is, with
// patterns of causes, and with arguments.
func asStateMachine(e *catalog.Entry) string {
	var taken, withoutStop, withCauses, failing, withArguments []string
	var why error
	for _, s := range compile.Strategies() {
		if e.Kind == catalog.Derived && s.UsesFunctions() {
			continue // which have the reviewed entries alone
		}
		// What a strategy takes does not depend on the max wait.
		o := compile.Options{Strategy: s, MaxWait: 24 * time.Hour, Fit: true}
		_, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
		refused, lossy := errors.AsType[*compile.NotCompiledError](err)
		oneReason := lossy && len(refused.Reasons) == 1
		switch {
		case err == nil:
			taken = append(taken, string(s))
		case oneReason && s.Waits() && leavesJob(e, o):
			withoutStop = append(withoutStop, string(s))
		case oneReason && refused.Unmodeled != nil:
			withCauses = append(withCauses, string(s))
		case oneReason && refused.Optional != nil:
			withArguments = append(withArguments, string(s))
		case lossy && compilesFailing(e, o):
			failing = append(failing, string(s))
		case why == nil: // the first strategy takes the most, so its refusal says the most
			why = err
		}
	}
	var texts []string
	for _, group := range []struct {
		strategies []string
		with       string
	}{
		{taken, ""},
		{withoutStop, " with --no-stop"},
		{withCauses, " with --cause or --unmodeled fail"},
		{failing, " with --unmodeled fail"},
		{withArguments, " with --arguments"},
	} {
		if group.strategies != nil {
			texts = append(texts, strings.Join(group.strategies, ", ")+group.with)
		}
	}
	if texts == nil {
		return fmt.Sprintf("jobpoller compile cannot express %s %s: %v", e.Service.Key, e.Name, why)
	}
	return fmt.Sprintf("jobpoller compile %s %s: %s", e.Service.Key, e.Name, strings.Join(texts, "; "))
}

// compilesFailing tells whether a strategy that refuses the entry takes it if errors
// whose codes Step Functions hides fail the wait.
func compilesFailing(e *catalog.Entry, o compile.Options) bool {
	o.UnmodeledFails = true
	_, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
	return err == nil
}

// asJob says how requests of the Lambda functions name the entry.
func asJob(e *catalog.Entry) []string {
	var all []string
	if e.Kind == catalog.Derived {
		return nil
	}
	if e.Job != nil {
		all = append(all, asRequest(e.FullName(), "starts and polls it"))
	}
	return append(all, asRequest(e.Service.Key+":"+e.Waiter.Name, "polls what you start"))
}

// asRequest says what requests that name a job do.
func asRequest(name, does string) string { return fmt.Sprintf("job %q of a request: %s", name, does) }

// leavesJob tells whether the entry compiles if the machine does not stop the job.
func leavesJob(e *catalog.Entry, o compile.Options) bool {
	call := compile.CallOf(e)
	call.Stop = nil
	_, err := compile.Compile(e.Waiter, call, o)
	return err == nil
}
