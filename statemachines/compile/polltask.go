package compile

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// pollTask completes the Task that polls.
func (p *plan) pollTask(task object) object {
	if p.own == nil {
		task["Resource"], task["TimeoutSeconds"], task["Retry"] = resource(p.call.Operation), callTimeout, p.faults(p.call.Operation)
		return task
	}
	task["TimeoutSeconds"] = p.own.timeout()
	maps.Copy(task, p.own.fields)
	if faults := p.ownFaults(); len(faults) > 0 {
		task["Retry"] = faults
	}
	return task
}

// ownFaults are the retriers of the caller's own Task: its own, and then those of errors that pass by
// themselves and that it does not name.
func (p *plan) ownFaults() []any {
	taken := func(name string) bool {
		return isNamed(p.own.retry, name) || isNamed(p.own.catch, name) ||
			slices.ContainsFunc(p.catches, func(c catch) bool { return slices.Contains(c.names, name) })
	}
	names := slices.DeleteFunc(p.passingErrors(), taken)
	if all := isNamed(p.own.retry, asl.ErrorAll) || isNamed(p.own.retry, asl.ErrorTaskFailed); all || len(names) == 0 {
		return p.own.retry
	}
	return append(slices.Clip(p.own.retry), retryFaults(names))
}

// isNamed tells whether a retrier or a catcher names an error.
func isNamed(list []any, name string) bool {
	return slices.ContainsFunc(list, func(item any) bool {
		members, _ := item.(map[string]any)
		names, _ := members["ErrorEquals"].([]any)
		return slices.Contains(names, any(name))
	})
}

// passingErrors are errors of the caller's own Task that say nothing of the job, and pass by themselves.
func (p *plan) passingErrors() []string {
	if names := asl.ParseResource(p.own.resource()).PassingErrors(false); names != nil {
		return names
	}
	op := p.call.Operation
	if len(namedErrors(op)) == 0 {
		return nil
	}
	return append(passingNames(op), op.Service.ErrorPrefix+".SdkClientException")
}

// retriersOf are the retriers of a Retry, with what ASL takes where they leave it out.
func retriersOf(list []any) []retrier {
	all := make([]retrier, 0, len(list))
	for _, item := range list {
		usual := asl.DefaultRetrier()
		r := retrier{IntervalSeconds: int(usual.IntervalSeconds), MaxAttempts: int(usual.MaxAttempts), BackoffRate: usual.BackoffRate}
		if text, err := json.Marshal(item); err == nil && json.Unmarshal(text, &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

// callLasts is how long a call of a Task may take, in seconds.
func callLasts(task object) int {
	switch seconds := task["TimeoutSeconds"].(type) {
	case int:
		return seconds
	case float64:
		return int(seconds)
	case json.Number:
		n, _ := seconds.Int64()
		return int(n)
	case string: // an expression
		return int(asl.MaxStandardTime / time.Second)
	default:
		return callTimeout
	}
}
