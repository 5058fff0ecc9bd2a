// Package fixtruth draws machines that poll, breaks them in known ways, and judges
// what became of them.
//
// What a machine is meant to do comes from the parameters that it is drawn with, and
// what it does from the histories of its runs. Nothing here knows lint, fix or the
// catalogue: these are what is judged.
package fixtruth

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

type object = map[string]any

// choices are the shapes of the Choice states of a loop.
type choices int

const (
	defaultWaits    choices = iota // a rule for each end, Default polls on
	defaultFails                   // a rule for success and for running, Default fails
	defaultDecides                 // a rule for running, Default to a Choice that knows the ends
	secondChoice                   // success, else a Choice that knows failures
	thirdChoice                    // the same, and a third that knows the bound
	defaultSucceeds                // a rule for a failure and for running, Default succeeds
)

// blueprint is what a machine is drawn with: an intact one if it has no faults.
type blueprint struct {
	op *operation
	// jsonata tells the language of the machine, and mixed that the Choice states of one
	// in JSONPath are in JSONata.
	jsonata, mixed bool
	express        bool

	starts                   bool   // the machine starts the job
	idVariable               bool   // the id is in a variable
	first                    string // the first Wait: "", loop, choice (which leads there), literal, path, expression, timestamp
	pause                    string // the Wait of the loop: "", path, placeholder
	counter                  string // "", pass, assign, input
	limit                    int    // of polls
	goesOn                   bool   // the bound leads where a success does
	boundOfRunning           bool   // the bound is for a job that runs
	split                    bool   // the second member tells whether a success is one
	choices                  choices
	apart, guarded           bool   // a rule for each status; rules that look for the member first
	catch                    string // of the poll: "", success, retry, failure
	retried                  bool   // the poll has a Retry
	result                   string // "", selector, output path, output, input (the function returns all data), text (JSON in a member), counts (of several jobs)
	said                     bool   // the user says what statuses mean of a job of his own
	jobs                     int
	any                      bool   // one success of several jobs is enough
	around                   string // "", map, parallel, outer, index, second
	before, after            string // Tasks around: "", lambda, http
	progress, clean, message bool
	unique, now              bool   // an argument behind the loop
	cause                    string // of the failure: "", status, reason
	placeholders             bool
	told                     bool // the notification tells the reason of the failure

	forms, faults []string

	// What faults change.
	success, failure, running []string // as the conditions name them
	dropDefault               bool
	readsReason               bool
	statusMember              string // "" for the right one
	fast                      bool   // the job is not visible at once, and no Retry knows that
}

// polls on: the statuses that a loop is meant to wait in.
func (b *blueprint) waits() []string { return slices.Concat(b.op.running, b.op.ending) }

// retriedErrors are those of the Retry of the poll.
func (b *blueprint) retriedErrors() []string {
	errors := []string{b.op.throttled(), b.op.fault()}
	if b.starts && b.catch != "success" && b.op.service == "ssm" && !b.fast {
		errors = append([]string{b.op.gone}, errors...)
	}
	return errors
}

// caughtErrors are those of the Catch of the poll.
func (b *blueprint) caughtErrors() []string {
	switch b.catch {
	case "success":
		return []string{b.op.gone}
	case "retry":
		return []string{b.op.throttled(), b.op.fault(), "States.Timeout"}
	case "failure":
		return []string{"States.TaskFailed"}
	}
	return nil
}

// Drawn is a machine, with its intact twin.
type Drawn struct {
	Seed          uint64
	Forms, Faults []string
	Express       bool
	// Text is the definition, and Twin the one without faults.
	Text, Twin []byte
	Input      []byte
	// Poll is the resource of the Task that polls.
	Poll string

	plan, intact *blueprint
	// What the machine, the twin, and the machine with the right member did, by scenario.
	befores, twins, respelt map[string]*observed
}

// Draw draws the machine of a seed.
func Draw(seed uint64) *Drawn { return draw(seed, []int{1, 1, 1, 1, 2, 2, 3, 0}) }

// DrawFaulty draws one with two to five faults, if as many fit in it.
func DrawFaulty(seed uint64) *Drawn { return draw(seed, []int{2, 3, 4, 5}) }

// draw draws a machine with one of some numbers of faults.
func draw(seed uint64, faults []int) *Drawn {
	r := rand.New(rand.NewPCG(seed, 33)) //nolint:gosec // a seed draws the same machine again
	b := &blueprint{op: operations[r.IntN(len(operations))], choices: choices(-1), jobs: 1, limit: 6 + r.IntN(20), retried: true}
	b.draw(r)
	broken := *b
	broken.forms, broken.faults = slices.Clone(b.forms), nil
	for n := faults[r.IntN(len(faults))]; n > 0; n-- {
		broken.breakOne(r)
	}
	return &Drawn{
		Seed: seed, Forms: b.forms, Faults: broken.faults, Express: b.express, Text: broken.write(), Twin: b.write(), Input: b.input(),
		Poll: b.op.resource(b.op.describe), plan: &broken, intact: b, befores: map[string]*observed{}, twins: map[string]*observed{},
		respelt: map[string]*observed{},
	}
}

// Intact is the twin as a machine of its own.
func (d *Drawn) Intact() *Drawn {
	twin := *d
	twin.Faults, twin.Text, twin.plan = nil, d.Twin, d.intact
	twin.befores, twin.twins, twin.respelt = map[string]*observed{}, map[string]*observed{}, map[string]*observed{}
	return &twin
}

// draw takes a form of most slots, in the order of the table: later ones see what
// earlier ones took.
func (b *blueprint) draw(r *rand.Rand) {
	rich := []int{35, 65, 100}[r.IntN(3)] // in percent: machines of few forms show what one of them does
	for _, slot := range slots {
		var fitting []form
		for _, f := range slot.forms {
			if f.fits == nil || f.fits(b) {
				fitting = append(fitting, f)
			}
		}
		if len(fitting) == 0 || slot.percent < 100 && r.IntN(100) >= slot.percent*rich/100 {
			continue
		}
		f := fitting[r.IntN(len(fitting))]
		f.take(b)
		b.forms = append(b.forms, f.name)
	}
	b.success, b.failure, b.running = slices.Clone(b.op.success), slices.Clone(b.op.failure), b.waits()
}

// breakOne puts a fault in, if one fits.
func (b *blueprint) breakOne(r *rand.Rand) {
	var fitting []fault
	for _, f := range faults {
		if !slices.Contains(b.faults, f.name) && (f.fits == nil || f.fits(b)) {
			fitting = append(fitting, f)
		}
	}
	if len(fitting) > 0 {
		f := fitting[r.IntN(len(fitting))]
		f.put(b, r)
		b.faults = append(b.faults, f.name)
	}
}

func (b *blueprint) write() []byte {
	text, err := json.MarshalIndent(b.machine(), "", "  ")
	if err != nil {
		panic(err)
	}
	if b.pause == "placeholder" { // a number, which a definition has no quotes around
		return []byte(strings.ReplaceAll(string(text), `"${WaitSeconds}"`, "${WaitSeconds}"))
	}
	return text
}

// input is that of the executions.
func (b *blueprint) input() []byte {
	data := func(ids ...string) object {
		o := object{
			"id": ids[0], "ids": ids, "first": 40, "pause": 20, "ready": "2026-01-01T00:01:30Z", "limit": b.limit,
			"kept": object{"a": 1, "b": []any{"x", true, nil}},
		}
		if b.counter == "input" {
			o["count"] = object{"polls": 0}
		}
		return o
	}
	var in any = data("job-1", "job-2")
	if b.around == "map" {
		in = object{"items": []any{data("job-1"), data("job-2")}}
	}
	text, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return text
}
