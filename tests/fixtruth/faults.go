package fixtruth

import (
	"math/rand/v2"
	"slices"
)

// fault is a known way to break a machine.
type fault struct {
	name string
	fits func(*blueprint) bool
	put  func(*blueprint, *rand.Rand)
}

// namesFailures tells whether a rule names each failure: else Default is theirs.
func namesFailures(b *blueprint) bool {
	return b.choices == defaultWaits || b.choices == secondChoice || b.choices == thirdChoice || b.choices == defaultSucceeds
}

func namesRunning(b *blueprint) bool {
	return b.choices == defaultFails || b.choices == defaultDecides || b.choices == defaultSucceeds
}

// known tells whether somebody says what a status means that the machine does not name, or not rightly.
func known(b *blueprint) bool { return b.op.via == "" || b.said }

// take removes a value that is one of some, and returns it.
func take(r *rand.Rand, from *[]string, some []string) string {
	value := some[r.IntN(len(some))]
	*from = slices.DeleteFunc(slices.Clone(*from), func(v string) bool { return v == value })
	return value
}

// failures are those that the conditions name.
func (b *blueprint) failures() []string {
	return slices.DeleteFunc(slices.Clone(b.op.failure), func(v string) bool { return !slices.Contains(b.failure, v) })
}

// faults has a row a fault: add one, and the generator puts it in.
var faults = []fault{
	{"a failure forgotten", func(b *blueprint) bool {
		return known(b) && namesFailures(b) && len(b.failures()) > 1
	}, func(b *blueprint, r *rand.Rand) { take(r, &b.failure, b.failures()) }},
	{"all failures forgotten", func(b *blueprint) bool {
		return known(b) && b.choices == defaultWaits && b.catch != "failure" && b.jobs == 1 && len(b.failure) > 0 && b.around != "outer"
	}, func(b *blueprint, _ *rand.Rand) { b.failure = nil }},
	{"a failure taken for success", func(b *blueprint) bool {
		return len(b.failures()) > 1 && b.choices != defaultSucceeds && !b.split
	}, func(b *blueprint, r *rand.Rand) {
		b.success = append(slices.Clone(b.success), take(r, &b.failure, b.failures()))
	}},
	{"a running status forgotten", func(b *blueprint) bool {
		return known(b) && namesRunning(b) && len(b.running) > 1
	}, func(b *blueprint, r *rand.Rand) { take(r, &b.running, b.running) }},
	{"a running status taken for failure", func(b *blueprint) bool {
		return known(b) && namesFailures(b) && b.jobs == 1 && len(b.failure) > 0
	}, func(b *blueprint, r *rand.Rand) {
		b.failure = append(slices.Clone(b.failure), b.op.running[r.IntN(len(b.op.running))])
	}},
	{"success misspelt", func(b *blueprint) bool { return known(b) && b.choices != defaultSucceeds }, func(b *blueprint, _ *rand.Rand) {
		b.success = append([]string{misspell(b.success[0])}, b.success[1:]...)
	}},
	{"a failure misspelt", func(b *blueprint) bool { return known(b) && namesFailures(b) && len(b.failures()) > 0 }, func(b *blueprint, r *rand.Rand) {
		b.failure = append(slices.Clone(b.failure), misspell(take(r, &b.failure, b.failures())))
	}},
	{"no bound", func(b *blueprint) bool {
		return b.counter != "" && b.choices != thirdChoice && !b.goesOn // nothing says that the missing one goes on
	}, func(b *blueprint, _ *rand.Rand) { b.counter = "" }},
	{"no Retry of the poll", func(b *blueprint) bool { return b.retried }, func(b *blueprint, _ *rand.Rand) { b.retried = false }},
	{"clean-up left out", func(b *blueprint) bool { return b.clean }, func(b *blueprint, _ *rand.Rand) { b.clean = false }},
	{"polled before the job is visible", func(b *blueprint) bool {
		return b.retried && b.starts && b.catch != "success" && b.op.service == "ssm"
	}, func(b *blueprint, _ *rand.Rand) { b.fast = true }},
	{"an absent member read", func(b *blueprint) bool {
		return b.jobs == 1 && b.op.via == "" && (b.result == "selector" || b.result == "output") && !b.op.reasonAlways
	}, func(b *blueprint, _ *rand.Rand) { b.readsReason = true }},
	{"a member misspelt", func(b *blueprint) bool { return b.op.via == "" && b.jobs == 1 && b.result == "" }, func(b *blueprint, _ *rand.Rand) {
		b.statusMember = misspell(b.op.status[len(b.op.status)-1])
	}},
	{"Default left out", func(b *blueprint) bool {
		return b.choices == defaultWaits && oneJob(b)
	}, func(b *blueprint, _ *rand.Rand) { b.dropDefault = true }},
}

// misspell leaves a letter out.
func misspell(word string) string { return word[:len(word)/2] + word[len(word)/2+1:] }

// FaultNames are the names of the faults, sorted.
func FaultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}
