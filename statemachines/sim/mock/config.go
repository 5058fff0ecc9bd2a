package mock

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Config is mocks as read from a file.
type Config struct {
	// handlers of our own form, by state or resource.
	handlers map[string]func() sim.Handler
	jobs     []*jobConfig
	// cases of AWS's form: by state machine, then by test case.
	cases map[string]map[string]testCase
}

// testCase is scripts by state.
type testCase map[string]func() sim.Handler

// jobConfig is a job with the resources or states of its calls.
type jobConfig struct {
	job                   func() *Job
	start, describe, stop string
}

// Read reads mocks from JSON. Its error is an asl.Problems with everything that
// is wrong. There are two forms.
//
// AWS's MockConfigFile.json of Step Functions Local, as it is: an object with
// the members StateMachines and MockedResponses.
//
// Our own: an object whose members name a state or a resource, and whose values
// are a step or a list of steps, each with one of "return" (a value), "fail"
// (an object with "error" and "cause"), "throttle" (true) and "never" (true),
// and if wanted "times" (calls), "after" (seconds) and "submitted" (a value); or
// a job, {"job": {"runs": seconds, "status": path, "running": status, "ends":
// status}}, with, if wanted, "stopped" (a status), "answer" (an object), "id" (a
// path), "idArgument" (a name), "start" and "stop" (states or resources of those
// calls).
func Read(text []byte) (*Config, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	r := &reader{config: &Config{handlers: map[string]func() sim.Handler{}, cases: map[string]map[string]testCase{}}}
	if root := r.object(doc.Root, "mocks"); root != nil {
		if root.Get("StateMachines") != nil || root.Get("MockedResponses") != nil {
			r.aws(root)
		} else {
			r.own(root)
		}
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return r.config, nil
}

// TestCases returns the test cases of a file of AWS's form, as "state
// machine#test case", sorted; nil for a file of our own form.
func (c *Config) TestCases() []string {
	var out []string
	for machine, cases := range c.cases {
		for name := range cases {
			out = append(out, machine+"#"+name)
		}
	}
	slices.Sort(out)
	return out
}

// UnknownNameError is the error of a file that speaks of states or resources
// that the state machine does not have, or of a test case that is not in it.
type UnknownNameError struct {
	What       string // "state or resource" or "test case"
	Name       string
	Suggestion string
	There      []string
}

func (e *UnknownNameError) Error() string {
	text := fmt.Sprintf("mocks: there is no %s %q", e.What, e.Name)
	if e.Suggestion != "" {
		text += fmt.Sprintf(" (did you mean %q?)", e.Suggestion)
	}
	return text + "; there are " + strings.Join(e.There, ", ")
}

// Apply puts the mocks into the options of a run of the machine, fresh for each
// run. test names a test case as TestCases gives it, or only its last part where
// that is clear; it is empty for a file of our own form or with one test case.
// A name in the file that the machine does not have is an *UnknownNameError.
func (c *Config) Apply(m *asl.StateMachine, test string, o *sim.Options) error {
	known := map[string]bool{}
	for s := range m.All {
		known[s.Name] = true
		if s.Task != nil {
			known[s.Task.Resource] = true
		}
		if s.Map != nil && s.Map.ItemReader != nil {
			known[s.Map.ItemReader.Resource] = true
		}
	}
	handlers := map[string]sim.Handler{}
	if len(c.cases) > 0 {
		chosen, err := c.testCase(test)
		if err != nil {
			return err
		}
		for state, handler := range chosen {
			handlers[state] = handler()
		}
	} else if test != "" {
		return &UnknownNameError{What: "test case", Name: test, There: []string{"none: only AWS's MockConfigFile.json has test cases"}}
	}
	for name, handler := range c.handlers {
		handlers[name] = handler()
	}
	for _, job := range c.jobs {
		j := job.job()
		for name, handler := range map[string]sim.Handler{job.start: j.Start, job.describe: j.Describe, job.stop: j.Stop} {
			if name != "" {
				handlers[name] = handler
			}
		}
	}
	all := slices.Sorted(maps.Keys(known))
	o.Handlers, o.StateHandlers = maps.Clone(o.Handlers), maps.Clone(o.StateHandlers)
	if o.Handlers == nil {
		o.Handlers = map[string]sim.Handler{}
	}
	if o.StateHandlers == nil {
		o.StateHandlers = map[string]sim.Handler{}
	}
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		if !known[name] {
			return &UnknownNameError{What: "state or resource", Name: name, Suggestion: diag.Nearest(name, all), There: all}
		}
		if strings.HasPrefix(name, "arn:") {
			o.Handlers[name] = handlers[name]
		} else {
			o.StateHandlers[name] = handlers[name]
		}
	}
	return nil
}

func (c *Config) testCase(test string) (testCase, error) {
	all := c.TestCases()
	if test == "" && len(all) == 1 {
		test = all[0]
	}
	var found []string
	for _, name := range all {
		if name == test || strings.HasSuffix(name, "#"+test) && test != "" {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return nil, &UnknownNameError{What: "single test case", Name: test, Suggestion: diag.Nearest(test, all), There: all}
	}
	machine, name, _ := strings.Cut(found[0], "#")
	return c.cases[machine][name], nil
}

// seconds is a number of seconds as a duration.
func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
