package mock

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Config is mocks as read from a file.
type Config struct {
	scripts script            // of our own form, by state or resource
	jobs    []jobConfig       // of our own form
	cases   map[string]script // of AWS's form, by "state machine#test case"
}

// script is what answers, by state or resource.
type script map[string][]step

// jobConfig is a job with the resources or states of its calls.
type jobConfig struct {
	job                   func() *Job
	start, describe, stop []string
}

// Read reads mocks from JSON. Its error is an diag.Problems with everything that
// is wrong. A file may name its JSON Schema as $schema. There are two forms.
//
// Our own is an object whose members name a state or a resource; what is said
// of a state wins. A value is a step, or a list of steps, for the calls one
// after the other:
//
//	{"Describe": [{"throttle": true, "times": 2}, {"return": {"Status": "DONE"}, "after": 0.5}]}
//
// A step has one of
//
//	"return"     a value
//	"fail"       {"error": name, "cause": text}, cause if wanted
//	"throttle"   true: fails as the service does when it is called too often
//	"never"      true: gives no answer, only a timeout ends the Task
//
// and, if wanted, "times" (for how many calls it is; the last step is for all
// further ones if it does not say), "after" (the seconds that the call takes),
// "submitted" (what the request of a ".sync" or ".waitForTaskToken" Task is
// answered with; alone, the Task then waits for its token) and "heartbeats" (the
// interval of heartbeats in seconds).
//
// Or a value is a [Job]:
//
//	{"Describe": {"job": {"runs": 90, "status": "JobRun.JobRunState", "running": "RUNNING", "ends": "SUCCEEDED",
//	  "id": "JobRun.Id", "idArgument": "RunId", "start": "Start", "startId": "JobRunId"}}}
//
// The member is named after the describe call, or after the ".sync" Task that ends
// with the job; "start" and "stop" are the states or resources of the other two
// calls, "describe" those of further describe calls, each a text or a list. "start"
// may also be an object of states with a "runs" and "ends" of their own. The rest
// are the fields of Job: "runs" in seconds or as ParseSpread reads it, "running",
// "ends", "status" and, if wanted, "throttle" as a share ("5%"), "startTime",
// "endTime", "stopped", "fails", "part", "answer", "answers", "id", "idArgument",
// "stopIdArgument", "ids", "startAnswer", "startId", "startIdArgument", "stopAnswer"
// and "notFound".
//
// The other form is AWS's, the MockConfigFile.json of Step Functions Local as it
// is: an object with the members StateMachines and MockedResponses. The calls of
// each state are counted through the whole execution, retries among them. A call
// that has no answer ends the run with an error where Step Functions Local fails
// the execution with States.Runtime.
func Read(text []byte) (*Config, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	r := &reader{config: &Config{scripts: script{}, cases: map[string]script{}}, answered: map[string]bool{}}
	if root := doc.Root; r.object(root, "mocks") {
		root.SkipSchema()
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
func (c *Config) TestCases() []string { return slices.Sorted(maps.Keys(c.cases)) }

// Names returns the states and resources that have answers, sorted. test is as in
// Apply.
func (c *Config) Names(test string) ([]string, error) {
	names := map[string]bool{}
	scripts := c.scripts
	if len(c.cases) > 0 || test != "" {
		chosen, err := c.testCase(test)
		if err != nil {
			return nil, err
		}
		scripts = c.cases[chosen]
	}
	for name := range scripts {
		names[name] = true
	}
	for _, j := range c.jobs {
		for _, name := range slices.Concat(j.start, j.describe, j.stop) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// Only returns the mocks whose states and resources a machine has, for a file that is for
// several machines.
func (c *Config) Only(m *asl.StateMachine) *Config {
	targets := TargetsOf(m)
	unknown := func(name string) bool { return targets.Check(name) != nil }
	only := &Config{scripts: maps.Clone(c.scripts), cases: c.cases}
	maps.DeleteFunc(only.scripts, func(name string, _ []step) bool { return unknown(name) })
	for _, j := range c.jobs {
		if !slices.ContainsFunc(slices.Concat(j.start, j.describe, j.stop), unknown) {
			only.jobs = append(only.jobs, j)
		}
	}
	return only
}

// Apply puts the mocks into the options of a run of the machine, fresh for each
// run. test names a test case as TestCases gives it, or only its last part where
// that is clear; it is empty for a file of our own form or with one test case.
// A Task that the file does not name has no mock: with a test case it fails, unless
// the options have a handler for it. A name in the file that the machine does not
// have, or that calls nothing, is an *UnknownNameError.
func (c *Config) Apply(m *asl.StateMachine, test string, o *sim.Options) error {
	scripts, chosen := c.scripts, ""
	if len(c.cases) > 0 || test != "" {
		var err error
		if chosen, err = c.testCase(test); err != nil {
			return err
		}
		scripts = c.cases[chosen]
	}
	targets := TargetsOf(m)
	handlers := map[string]sim.Handler{}
	for name, steps := range scripts {
		handlers[name] = (&Script{steps: slices.Clone(steps)}).Handle
		if chosen != "" && targets.isFunction(name) {
			handlers[name] = returnPayload(handlers[name])
		}
	}
	for _, config := range c.jobs {
		if err := config.bind(targets, o, handlers); err != nil {
			return err
		}
	}
	if err := targets.Bind(o, handlers); err != nil {
		return err
	}
	if chosen != "" {
		// As with Step Functions Local, a test case names the states on its way.
		targets.failOthers(o, chosen)
	}
	return nil
}

// returnPayload lets a Task with the ARN of a function return the payload alone: a
// MockConfigFile.json has the answer of lambda:invoke for it, too.
func returnPayload(handle sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		reply, err := handle(ctx, call)
		if answer, ok := reply.Output.(map[string]any); ok && answer["StatusCode"] != nil && answer["Payload"] != nil {
			reply.Output = answer["Payload"]
		}
		return reply, err
	}
}

// bind puts the calls of a fresh job among the handlers.
func (c *jobConfig) bind(t *Targets, o *sim.Options, handlers map[string]sim.Handler) error {
	job := c.job()
	job.Seed = o.Seed
	for _, call := range []struct {
		names  []string
		handle sim.Handler
	}{{c.start, job.Start}, {c.describe, job.Describe}, {c.stop, job.Stop}} {
		for _, name := range call.names {
			handle := call.handle
			switch err := t.CheckJob(name); {
			case t.endsWithJob(name):
				handle = inTime(o.Clock, job.Sync)
			case err != nil:
				return err
			}
			handlers[name] = handle
		}
	}
	return nil
}

// inTime lets a reply take its time on a real clock, too.
func inTime(clock *sim.Clock, handle sim.Handler) sim.Handler {
	if clock == nil || clock.Virtual() {
		return handle
	}
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		reply, err := handle(ctx, call)
		latency := reply.Latency
		if failed, ok := errors.AsType[*sim.TaskError](err); ok {
			latency = failed.Latency
		}
		timer := time.NewTimer(latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return reply, err
	}
}

// testCase is the full name of a test case.
func (c *Config) testCase(test string) (string, error) {
	all := c.TestCases()
	if test == "" && len(all) == 1 {
		return all[0], nil
	}
	if slices.Contains(all, test) {
		return test, nil
	}
	var found []string
	for _, name := range all {
		if test != "" && strings.HasSuffix(name, "#"+test) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", &UnknownNameError{What: "single test case", Name: test, Suggestion: suggestion(test, all), There: all}
	}
	return found[0], nil
}

// suggestion is the test case that is most likely meant.
func suggestion(test string, all []string) string {
	candidates := slices.Clone(all)
	for _, name := range all {
		_, last, _ := strings.Cut(name, "#")
		candidates = append(candidates, last)
	}
	if near := nearest.Word(test, candidates); near != test {
		return near
	}
	return ""
}
