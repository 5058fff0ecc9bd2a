package conformance_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// simulateSuites are AWS's samples, run without a file of mocks. A case passes if
// the machine runs to an end, or has Tasks that nobody can know, which are named.
var simulateSuites = []suite{{name: "simulate", folder: "aws-samples", cases: 169, run: runSimulated, differences: map[string]string{
	collection + "shared-fallback-state-jsonata/statemachine/statemachine.asl.json": misplace,
}}}

// eachSample calls f with the state machines of a folder, by their names. A file
// that a template names is there once.
func eachSample(t *testing.T, folder string, f func(name string, definition []byte)) {
	t.Helper()
	all := sampleDefinitions(t, folder)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, d := range all[name] {
			if d.Text != nil && d.Template == "" {
				f(d.Name, d.Text)
			}
		}
	}
}

func runSimulated(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	ends := map[string]int{} // by the first word: the status, or the error
	eachSample(t, folder, func(name string, definition []byte) {
		out.total++
		end, err := simulateSample(t, definition)
		if err != nil {
			out.failures[name] = err.Error()
			return
		}
		word, _, _ := strings.Cut(end, " ")
		ends[word]++
		if testing.Verbose() && end != "told" {
			out.notes = append(out.notes, name+": "+end)
		}
	})
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		out.notes = append(out.notes, fmt.Sprintf("%s: %d", end, ends[end]))
	}
	return out
}

// fillPlaceholders returns a definition with values for the placeholders of the machine:
// the ARN of a function where a resource is wanted.
func fillPlaceholders(definition []byte, m *asl.StateMachine) []byte {
	values := map[string]string{}
	for _, h := range m.Placeholders {
		values[h.Name] = "value"
		if bytes.Contains(definition, []byte(`"Resource": "${`+h.Name+`}"`)) || bytes.Contains(definition, []byte(`"Resource":"${`+h.Name+`}"`)) {
			values[h.Name] = "arn:aws:lambda:us-east-1:123456789012:function:" + h.Name
		}
	}
	return asl.Substitute(definition, values)
}

// simulateSample runs a definition, and says how it ended.
func simulateSample(t *testing.T, definition []byte) (end string, err error) {
	t.Helper()
	m, err := asl.Parse(definition)
	if err != nil {
		return "", err
	}
	if m, err = asl.Parse(fillPlaceholders(definition, m)); err != nil {
		return "unset: only its author knows the values of its placeholders", nil //nolint:nilerr // they make it wrong
	}
	plan, err := simulate.New(m, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(12 * time.Minute)}}, Models: models.Load})
	if err != nil {
		return "", err
	}
	if len(plan.Unknown) > 0 {
		return "told", nil
	}
	mocks, err := plan.Mocks()
	if err != nil {
		return "", err
	}
	o := sim.Options{Models: models.Load, Seed: 1}
	if err := mocks.Apply(m, "", &o); err != nil {
		return "", err
	}
	r, err := sim.Run(t.Context(), m, nil, o)
	if err != nil {
		return "", err
	}
	return cmp.Or(r.Error, string(r.Status)) + " " + r.Cause[:min(len(r.Cause), 200)], nil
}
