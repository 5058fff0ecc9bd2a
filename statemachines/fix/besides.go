package fix

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// besides are changes that no single answer shows: of retries, deadlines and the history.
func (f *fragment) besides(report *trial.Report, trials []Trial) []string {
	all := append([]string{f.movesDeadline(), f.growsHistory(trials)}, f.failsForEver(report)...)
	if slices.ContainsFunc(report.Runs, func(r trial.Run) bool { return pollsLonger(&r) }) {
		all = append(all, "a job that ends after the last poll that the old loop has time for: times out -> is polled again")
	}
	all = append(all, f.retriesMore()...)
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// movesDeadline says which states before the loop took time from a deadline that was set before them; empty for none.
func (f *fragment) movesDeadline() string {
	if f.starter != nil || f.bound.Kind != lint.ByTime || len(f.bound.Lasting) == 0 {
		return ""
	}
	return fmt.Sprintf("the time of %s before the loop: counts for the deadline -> does not, and the new loop waits %s from its begin",
		list(f.bound.Lasting), spell(f.maxWait))
}

// failsForEver says which errors of the poll end the execution by another name where each call fails with them.
func (f *fragment) failsForEver(report *trial.Report) []string {
	errors := map[string][]string{} // by how the executions end
	var ends []string
	for i := range report.Runs {
		r := &report.Runs[i]
		last := len(r.Kinds) - 1
		if last < 0 || r.Kinds[last].Sort != trial.Fails || r.Kinds[last].Task != f.poll.Name {
			continue
		}
		failed := r.Before.Status == string(sim.StatusFailed) && r.After.Status == string(sim.StatusFailed)
		if !failed || r.Before.Error == r.After.Error || !strings.HasPrefix(r.After.Error, ownErrors) {
			continue
		}
		end := fmt.Sprintf("%s -> %s", strings.TrimSuffix(describeEnd(r.Before), " "+r.Kinds[last].Value), describeEnd(r.After))
		if errors[end] == nil {
			ends = append(ends, end)
		}
		if name := r.Kinds[last].Value; !slices.Contains(errors[end], name) {
			errors[end] = append(errors[end], name)
		}
	}
	var all []string
	for _, end := range ends {
		all = append(all, strings.Join(errors[end], ", ")+" of each call: "+end)
	}
	return all
}

// retriesMore says which errors the new poll retries more often than the old one did.
func (f *fragment) retriesMore() []string {
	if f.starter != nil || f.strategy.PollsByRetry() {
		return nil
	}
	var retriers []asl.Retrier
	if json.Unmarshal(mustJSON(f.states[f.poll.Name]["Retry"]), &retriers) != nil { //nolint:musttag // its fields have the names of the language
		return nil
	}
	names := map[[2]int64][]string{} // by the attempts before and after
	var order [][2]int64
	for i := range retriers {
		for _, name := range retriers[i].ErrorEquals {
			old, made := retrierOf(f.poll.Retry, name), retrierOf(retriers, name)
			if old == nil || made != &retriers[i] || old.MaxAttempts == 0 || old.MaxAttempts >= made.MaxAttempts {
				continue
			}
			attempts := [2]int64{old.MaxAttempts, made.MaxAttempts}
			if names[attempts] == nil {
				order = append(order, attempts)
			}
			names[attempts] = append(names[attempts], name)
		}
	}
	var all []string
	for _, attempts := range order {
		all = append(all, fmt.Sprintf("retries of %s: %d -> %d", strings.Join(names[attempts], ", "), attempts[0], attempts[1]))
	}
	return all
}
