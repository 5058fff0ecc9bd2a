package simulate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// eachJob calls f with every job of the catalogue.
func eachJob(t *testing.T, f func(t *testing.T, e *catalog.Entry)) {
	t.Helper()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, s := range list {
		for _, listed := range s.Entries {
			if listed.Kind != catalog.AWSJob {
				continue
			}
			t.Run(s.Key+" "+listed.Name, func(t *testing.T) {
				t.Parallel()
				e, err := catalog.Lookup(s.Key, listed.Name)
				require.NoError(t, err)
				f(t, e)
			})
		}
	}
}

// at is what stands at a path of the model in an answer as Tasks get it.
func at(answer any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		name, first := strings.CutSuffix(name, "[0]")
		object, _ := answer.(map[string]any)
		if answer = object[javasdk.MemberName(name)]; first {
			list, _ := answer.([]any)
			if answer = nil; len(list) > 0 {
				answer = list[0]
			}
		}
	}
	return answer
}

// readsAll is a machine with the calls of a job that names every member which its answer
// does not always have.
func readsAll(t *testing.T, e *catalog.Entry) *asl.StateMachine {
	t.Helper()
	states := map[string]any{"Start": callState(e.Service, e.Name), "Describe": callState(e.Service, e.Operation.Name)}
	read := map[string]any{}
	for i, path := range e.Operation.Later() {
		var spelt []string
		for name := range strings.SplitSeq(path, ".") {
			spelt = append(spelt, javasdk.MemberName(name))
		}
		read[fmt.Sprintf("x%d.$", i)] = "$." + strings.Join(spelt, ".")
	}
	states["Loop?"] = map[string]any{"Type": "Choice", "Default": "Read", "Choices": []any{map[string]any{"Variable": "$.x", "IsPresent": true, "Next": "Describe"}}}
	states["Read"] = map[string]any{"Type": "Pass", "Parameters": read, "End": true}
	text, err := json.Marshal(map[string]any{"StartAt": "Start", "States": states})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err, string(text))
	return m
}

// A member that is there only since the job has failed, ended or succeeded is in no answer
// before, whatever the definition reads. Athena's StateChangeReason was in the answer about
// a query that runs.
func TestNoAnswerHasWhatComesLater(t *testing.T) {
	t.Parallel()
	eachJob(t, func(t *testing.T, e *catalog.Entry) {
		t.Helper()
		if len(e.Operation.Presence) == 0 || e.Job.Describe == e.Name {
			return
		}
		m := readsAll(t, e)
		statuses, err := simulate.Statuses(e, models.Load)
		require.NoError(t, err)
		verdicts := map[string]pollcore.Verdict{}
		for _, s := range statuses {
			verdicts[s.Name] = s.Verdict
		}
		seen := map[string]bool{}
		for _, s := range statuses {
			plan, err := simulate.New(m, simulate.Options{
				Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}, Ends: s.Name, Polls: map[string]*catalog.Entry{"Describe": e},
			})
			require.NoError(t, err)
			text, err := plan.JSON()
			require.NoError(t, err)
			var file map[string]struct {
				Job *struct {
					Running string         `json:"running"`
					Ends    string         `json:"ends"`
					Answer  any            `json:"answer"`
					Answers map[string]any `json:"answers"`
				} `json:"job"`
			}
			require.NoError(t, json.Unmarshal(text, &file))
			job := file["Describe"].Job
			require.NotNil(t, job)
			for _, status := range []string{job.Running, job.Ends} {
				answer, own := job.Answers[status]
				if !own {
					answer = job.Answer
				}
				for path, when := range e.Operation.Presence {
					value := at(answer, path)
					there := value != nil
					if text, _ := value.(string); !strings.HasSuffix(text, status) { // else the waiter judges by it
						require.False(t, there && !when.Has(verdicts[status]), "%s: %s of %v", status, path, answer)
					}
					seen[path] = seen[path] || there
				}
			}
		}
		for path := range e.Operation.Presence {
			require.True(t, seen[path], "%s is in no answer", path)
		}
	})
}

// The members that say whether a job has ended say the same as its status, in the answers of
// simulated jobs and of trials. CodeBuild's buildComplete was false for a build that had
// SUCCEEDED.
func TestMembersSayWhatTheStatusSays(t *testing.T) {
	t.Parallel()
	var told atomic.Int64
	t.Cleanup(func() { require.Positive(t, told.Load()) })
	eachJob(t, func(t *testing.T, e *catalog.Entry) {
		t.Helper()
		for _, row := range e.Telling() {
			var names []string
			for name := range strings.SplitSeq(row.Member, ".") {
				names = append(names, javasdk.MemberName(name))
			}
			poll := callState(e.Service, e.Operation.Name)
			poll["Next"] = "Read"
			text, err := json.Marshal(map[string]any{"StartAt": "Poll", "States": map[string]any{
				"Poll": poll, "Read": map[string]any{"Type": "Pass", "Parameters": map[string]any{"x.$": "$." + strings.Join(names, ".")}, "End": true},
			}})
			require.NoError(t, err)
			m, err := asl.Parse(text)
			require.NoError(t, err)
			responses, _, err := simulate.Responses(m, simulate.Options{Models: models.Load, Polls: map[string]*catalog.Entry{"Poll": e}})
			require.NoError(t, err)
			require.NotEmpty(t, responses["Poll"].Statuses)
			for _, s := range responses["Poll"].Statuses {
				if s.Failure != nil {
					continue
				}
				want := row.Before
				if row.Since.Has(s.Verdict) {
					want = row.After
				}
				value := at(s.Answer, row.Member)
				if value == row.Spell(s.Name) || value == nil && !e.Operation.Presence[row.Member].Has(s.Verdict) {
					continue // it is what the status is named after, or comes later
				}
				require.EqualValues(t, want, value, "%s of %s", row.Member, s.Name)
				told.Add(1)
			}
		}
	})
}

// What the request calls the job, the answers call it, and it is found by that name. After
// rds:createDBSnapshot of "job-of-today" the answer said "job-1", and describing by the
// caller's own name found nothing.
func TestJobsHaveTheNamesOfTheirRequests(t *testing.T) {
	t.Parallel()
	var named atomic.Int64
	t.Cleanup(func() { require.EqualValues(t, 59, named.Load()) })
	eachJob(t, func(t *testing.T, e *catalog.Entry) {
		t.Helper()
		if names := namesInBoth(e); len(names) > 0 && e.Job.Describe != e.Name {
			named.Add(1)
			requireNamed(t, e, names)
		}
	})
}

// namesInBoth are the members of the describe call that select the job and that the start
// call has, too: where some are read from the start call's answer, these, unless one of
// them is what the service makes alone.
func namesInBoth(e *catalog.Entry) []string {
	var made, given []string
	for member, expression := range e.Job.Arguments {
		start := e.Service.Operations[e.Name].Input
		both := start != nil && start.Member(member) != nil && start.Member(member).Shape.Type == catalog.String
		switch read := strings.Contains(expression, "output"); {
		case read && !both:
			return nil
		case read:
			made = append(made, member)
		case both && strings.HasPrefix(expression, "input."):
			given = append(given, member)
		}
	}
	if made != nil {
		return made
	}
	return given
}

func requireNamed(t *testing.T, e *catalog.Entry, members []string) {
	t.Helper()
	input, arguments := inputOf(e), required(e.Operation.Input, "").(map[string]any)
	for i, member := range members {
		name := fmt.Sprintf("job-of-today-%024d", i)
		input[javasdk.MemberName(member)], arguments[javasdk.MemberName(member)] = name, name
	}
	start, describe := callState(e.Service, e.Name), callState(e.Service, e.Operation.Name)
	start["Parameters"], start["ResultPath"], start["Next"] = input, "$.started", "Describe"
	describe["Parameters"], describe["ResultPath"], describe["Next"] = arguments, "$.described", "End"
	text, err := json.Marshal(map[string]any{"StartAt": "Start", "States": map[string]any{"Start": start, "Describe": describe, "End": map[string]any{"Type": "Succeed"}}})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{}}, Polls: map[string]*catalog.Entry{"Describe": e}})
	require.NoError(t, err)
	mocks, err := plan.Mocks()
	require.NoError(t, err)
	options := sim.Options{Models: models.Load, Seed: 1, Lenient: true}
	require.NoError(t, mocks.Apply(m, "", &options))
	r, err := sim.Run(t.Context(), m, []byte(`{}`), options)
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
	var output struct {
		Started   json.RawMessage `json:"started"`
		Described json.RawMessage `json:"described"`
	}
	require.NoError(t, json.Unmarshal(r.Output, &output))
	if slices.ContainsFunc(members, func(member string) bool { return mentions(e.Operation.Output, member, 0) }) {
		require.Contains(t, string(output.Described), "job-of-today")
	}
	for _, member := range members {
		answer := e.Service.Operations[e.Name].Output
		if len(members) == 1 && answer != nil && has(answer, member, 0) {
			require.Contains(t, string(output.Started), "job-of-today")
		}
	}
}

// mentions tells whether a structure has a member of the name, itself or in what it holds.
func mentions(s *catalog.Shape, member string, depth int) bool {
	if s == nil || depth > 4 {
		return false
	}
	if s.Type == catalog.List {
		return mentions(s.Element.Shape, member, depth+1)
	}
	return slices.ContainsFunc(s.Members, func(m catalog.Member) bool {
		return strings.EqualFold(m.Name, member) && m.Shape.Type == catalog.String || mentions(m.Shape, member, depth+1)
	})
}

// has tells whether a structure has a text of the name, itself or in a structure in it.
func has(s *catalog.Shape, member string, depth int) bool {
	for i := range s.Members {
		m := &s.Members[i]
		if m.Name == member && m.Shape.Type == catalog.String || depth < 2 && m.Shape.Type == catalog.Structure && has(m.Shape, member, depth+1) {
			return true
		}
	}
	return false
}

// What is drawn goes into the envelope of the call, if it has one: a reader of items has none.
func TestAroundAnAnswer(t *testing.T) {
	t.Parallel()
	const reader = `{"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2", "Parameters": {"Bucket": "b"}}, "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}, "End": true}`
	for state, want := range map[string]map[string]any{
		`{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "End": true}`: {"a": "b"},
		`{"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Parameters": {}, "End": true}`:   {"StatusCode": 200, "ResponseBody": map[string]any{}, "a": "b"},
		reader: {"a": "b"},
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Ask", "States": {"Ask": ` + state + `}}`))
		require.NoError(t, err)
		plan, err := simulate.New(m, simulate.Options{Models: models.Load})
		require.NoError(t, err)
		require.Len(t, plan.Unknown, 1)
		drawn := map[string]any{"a": "b"}
		require.Equal(t, want, plan.Unknown[0].Around(drawn))
		require.Equal(t, "text", plan.Unknown[0].Around("text"))
		require.Equal(t, map[string]any{"a": "b"}, drawn)
	}
}
