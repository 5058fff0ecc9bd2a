package compile_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

var update = flag.Bool("update", false, "write the golden files anew")

type values = map[string]any

// everyStrategy are those that poll, which take most waiters.
var everyStrategy = slices.DeleteFunc(compile.Strategies(), compile.Strategy.Waits)

// The definitions of entries that between them have all that a waiter can have:
// a job with a token, a message and a call that stops it; errors that end the
// wait and that prolong it; lists, projections and functions.
func TestGoldenDefinitions(t *testing.T) {
	t.Parallel()
	for _, e := range []struct{ service, name string }{
		{"dynamodb", "ExportTableToPointInTime"},
		{"dynamodb", "TableNotExists"},
		{"athena", "StartQueryExecution"},
		{"rds", "DBSnapshotAvailable"},
		{"ecs", "ServicesStable"},
		{"autoscaling", "GroupInService"},
		{"s3", "BucketExists"},
	} {
		entry, err := catalog.Lookup(e.service, e.name)
		require.NoError(t, err)
		for _, s := range everyStrategy {
			t.Run(e.service+"-"+e.name+"-"+string(s), func(t *testing.T) {
				t.Parallel()
				golden(t, entry, s)
			})
		}
	}
}

// A schedule in Retry blocks: by phases with an error that is retried, and by names.
func TestGoldenSchedules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, name string
		strategy      compile.Strategy
	}{
		{"dynamodb", "TableExists", compile.RetryTask},
		{"dynamodb", "ExportTableToPointInTime", compile.LambdaRetry},
	} {
		entry, err := catalog.Lookup(c.service, c.name)
		require.NoError(t, err)
		t.Run(c.service+"-"+c.name+"-schedule-"+string(c.strategy), func(t *testing.T) {
			t.Parallel()
			goldenCall(t, entry, compile.CallOf(entry), compile.Options{
				Strategy: c.strategy, MaxWait: 30 * time.Minute, Schedule: &pollcore.Planned{Delays: seconds(600, 10, 10, 10, 120), Then: 30 * time.Second},
			})
		})
	}
}

// A job that is found by what its Task says, and one that is found by its name.
func TestGoldenTasksThatWait(t *testing.T) {
	t.Parallel()
	for _, e := range []struct{ service, name string }{{"stepfunctions", "StartExecution"}, {"sagemaker", "CreateTrainingJob"}} {
		entry, err := catalog.Lookup(e.service, e.name)
		require.NoError(t, err)
		call := compile.CallOf(entry)
		if e.service == "stepfunctions" {
			call.Stop = nil
		}
		t.Run(e.service+"-"+e.name+"-sync", func(t *testing.T) {
			t.Parallel()
			goldenCall(t, entry, call, compile.Options{Strategy: compile.SyncTask, MaxWait: 30 * time.Minute})
		})
	}
}

// golden compares the definition of an entry, or why there is none, with the
// file of the test.
func golden(t *testing.T, e *catalog.Entry, s compile.Strategy) {
	t.Helper()
	goldenCall(t, e, compile.CallOf(e), compile.Options{Strategy: s, MaxWait: 30 * time.Minute, InitialDelay: 30 * time.Second})
}

func goldenCall(t *testing.T, e *catalog.Entry, call compile.Call, o compile.Options) {
	t.Helper()
	file := filepath.Join("testdata", "compile", filepath.Base(t.Name())+".asl.json")
	var got []byte
	compiled, err := compile.Compile(e.Waiter, call, o)
	if err == nil {
		got = asl.Print(compiled.Machine)
		again, err := compile.Compile(e.Waiter, call, o)
		require.NoError(t, err)
		require.Equal(t, string(got), string(asl.Print(again.Machine)))
		parsed, err := asl.Parse(got)
		require.NoError(t, err)
		require.Empty(t, lint.Check(parsed, lint.Options{}))
		require.Equal(t, parsed.StartAt, compiled.StartAt)
	} else {
		require.ErrorIs(t, err, compile.ErrNotCompiled)
		file = filepath.Join("testdata", "compile", filepath.Base(t.Name())+".txt")
		got = []byte(err.Error() + "\n")
	}
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	stored, err := os.ReadFile(file)
	require.NoError(t, err, "go test ./statemachines/compile -update writes it")
	require.Equal(t, string(stored), string(got), "go test ./statemachines/compile -update writes it anew")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	describe := operation(t, "dynamodb", "DescribeExport")
	status := pollcore.Output("ExportDescription.ExportStatus")
	plain := pollcore.MustNew("Plain", pollcore.Succeed(status.Is("COMPLETED")))
	for name, c := range map[string]struct {
		waiter  *pollcore.Waiter
		options compile.Options
		reasons []string
		fitting [2]time.Duration // of MinDelay, MaxDelay
		other   compile.Strategy // that fits
	}{
		"list in JSONPath": {
			waiter:  pollcore.MustNew("List", pollcore.Succeed(pollcore.Output("[ExportDescription.ExportStatus]").Any("COMPLETED"))),
			options: compile.Options{Strategy: compile.Loop, MaxWait: time.Hour},
			reasons: []string{"acceptor 1: ", "JSONPath"},
		},
		"input in JSONPath": {
			waiter: pollcore.MustNew("Input",
				pollcore.Succeed(pollcore.InputOutput("input.ExportArn == output.ExportDescription.ExportArn").IsTrue())),
			options: compile.Options{Strategy: compile.Loop, MaxWait: time.Hour},
			reasons: []string{"acceptor 1: a Choice rule in JSONPath cannot compare input and output"},
		},
		"error that is not declared": {
			waiter:  pollcore.MustNew("Error", pollcore.Succeed(status.Is("COMPLETED")), pollcore.Again(pollcore.ErrorType("ValidationException"))),
			options: compile.Options{Strategy: compile.Variables, MaxWait: time.Hour},
			reasons: []string{"ValidationException", "DynamoDb.DynamoDbException"},
		},
		"all at once": {
			waiter: pollcore.MustNew("All", pollcore.Succeed(pollcore.Output("[ExportDescription.ExportStatus]").Any("COMPLETED")),
				pollcore.Again(pollcore.ErrorType("ValidationException"))),
			options: compile.Options{Strategy: compile.Loop, MaxWait: time.Hour},
			reasons: []string{"acceptor 1: ", "ValidationException"},
		},
		"no driver": {
			waiter:  plain,
			options: compile.Options{Strategy: compile.LambdaLoop, MaxWait: time.Hour},
			reasons: []string{"driver"},
		},
		"timestamp in the functions": {
			waiter:  pollcore.MustNew("Time", pollcore.Succeed(pollcore.Output("ExportDescription.EndTime > `0`").IsTrue())),
			options: compile.Options{Strategy: compile.LambdaRetry, MaxWait: time.Hour},
			reasons: []string{"acceptor 1 reads the timestamp EndTime"},
		},
		"no room": {
			waiter:  plain,
			options: compile.Options{Strategy: compile.Loop, MaxWait: time.Hour, Events: 20, Fit: true},
			reasons: []string{"even with the longest delay it can take ", " events of the history, and its share is 20; the strategy retry-task fits"},
			other:   compile.RetryTask,
		},
		"history": {
			waiter:  plain,
			fitting: [2]time.Duration{33 * time.Second, 0},
			options: compile.Options{Strategy: compile.Loop, MaxWait: 24 * time.Hour, MinDelay: 2 * time.Second},
			reasons: []string{"events of the history", "it fits with a shortest delay of 33 s instead of 2; the strategy variables fits"},
			other:   compile.Variables,
		},
		// Only long jobs wait longer for it.
		"history of a week": {
			waiter:  plain,
			fitting: [2]time.Duration{0, 102 * time.Second},
			options: compile.Options{Strategy: compile.RetryTask, MaxWait: 7 * 24 * time.Hour, MaxDelay: time.Minute},
			reasons: []string{"events of the history", "it fits with a longest delay of 102 s instead of 60"},
		},
		"few events": {
			waiter:  plain,
			fitting: [2]time.Duration{900 * time.Second, 0},
			options: compile.Options{Strategy: compile.Variables, MaxWait: time.Hour, MinDelay: 2 * time.Second, MaxDelay: time.Minute, Events: 60},
			reasons: []string{"and its share is 60: it fits with a delay of 900 s instead of 2"},
		},
		"a schedule": {
			waiter:  plain,
			options: compile.Options{Strategy: compile.Variables, MaxWait: 60 * time.Hour, Schedule: &pollcore.Planned{Delays: seconds(60), Then: time.Minute}},
			reasons: []string{"and its share is 24000: give the schedule longer delays, or wait less; the strategy retry-task fits"},
			other:   compile.RetryTask,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := compile.Compile(c.waiter, compile.Call{Operation: describe}, c.options)
			require.ErrorIs(t, err, compile.ErrNotCompiled)
			refusal, ok := errors.AsType[*compile.NotCompiledError](err)
			require.True(t, ok)
			require.Equal(t, c.waiter.Name, refusal.Waiter)
			require.Equal(t, c.options.Strategy, refusal.Strategy)
			fitting := [2]time.Duration{refusal.FittingMinDelay, refusal.FittingMaxDelay}
			require.Equal(t, c.fitting, fitting)
			require.Equal(t, c.other, refusal.FittingStrategy)
			for _, reason := range c.reasons {
				require.ErrorContains(t, err, reason)
			}
		})
	}
}

// What is wrong with the call or the options is not a refusal of the strategy.
func TestWrongOptions(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	good := compile.Options{Strategy: compile.Variables, MaxWait: time.Hour}
	for name, c := range map[string]struct {
		waiter *pollcore.Waiter
		call   compile.Call
		change func(o *compile.Options)
		want   string
	}{
		"no waiter":     {call: compile.CallOf(e), want: "Waiter is missing"},
		"no operation":  {waiter: e.Waiter, want: "Operation is missing"},
		"other waiter":  {waiter: waiter(t, "ecs", "ServicesStable"), call: compile.CallOf(e), want: "Waiter ServicesStable does not fit DescribeExport"},
		"no time":       {change: func(o *compile.Options) { o.MaxWait = 0 }, want: "MaxWait is missing"},
		"part seconds":  {change: func(o *compile.Options) { o.MaxWait += time.Millisecond }, want: "MaxWait must be whole seconds"},
		"part delay":    {change: func(o *compile.Options) { o.MinDelay = 1500 * time.Millisecond }, want: "MinDelay must be whole seconds"},
		"no such way":   {change: func(o *compile.Options) { o.Strategy = "spin" }, want: "Strategy must be one of variables, retry-task, loop"},
		"delays":        {change: func(o *compile.Options) { o.MinDelay, o.MaxDelay = time.Minute, time.Second }, want: "MaxDelay must be at least the minimum delay, 1m, is 1s"},
		"negative wait": {change: func(o *compile.Options) { o.InitialDelay = -time.Second }, want: "InitialDelay must be at least 0s"},
		"prefix":        {change: func(o *compile.Options) { o.Prefix = "My export" }, want: "Prefix must be a letter, then letters"},
		"digit":         {change: func(o *compile.Options) { o.Prefix = "1" }, want: "Prefix must be a letter, then letters"},
		"long prefix":   {change: func(o *compile.Options) { o.Prefix = strings.Repeat("x", 67) }, want: `Prefix makes the name of the state "` + strings.Repeat("x", 67) + `DescribeExport" 81 characters long`},
		"exit": {change: func(o *compile.Options) {
			o.Exits = map[pollcore.Status]string{pollcore.Succeeded: "Check", pollcore.Failed: "B", pollcore.TimedOut: "B"}
		}, want: `Exits gives SUCCEEDED the name of a state of the fragment, "Check"`},
		"output that is not a path": {change: func(o *compile.Options) { o.Output = "a[" }, want: "Output is not valid"},
		"output of other members":   {change: func(o *compile.Options) { o.Output = "ExportDescription.Nothing" }, want: "Output does not fit DescribeExport"},
		"name of no state":          {change: func(o *compile.Options) { o.Names = map[string]string{"Nope": "Start"} }, want: `Names gives the name "Start" to "Nope"`},
		"negative delay":            {change: func(o *compile.Options) { o.MinDelay = -time.Second }, want: "MinDelay must be at least 0s"},
		"too long":                  {change: func(o *compile.Options) { o.MaxWait = 366 * 24 * time.Hour }, want: "MaxWait must be at most the year that an execution can last"},
		"too late":                  {change: func(o *compile.Options) { o.MaxDelay = 366 * 24 * time.Hour }, want: "MaxDelay must be at most the year that an execution can last"},
		"negative events":           {change: func(o *compile.Options) { o.Events = -1 }, want: "Events must be from 1 to the 25000 events"},
		"too many events":           {change: func(o *compile.Options) { o.Events = 25_001 }, want: "Events must be from 1 to the 25000 events"},
		"job ends first":            {change: func(o *compile.Options) { o.JobFrom, o.JobTo = time.Hour, time.Minute }, want: "JobTo must be at least the shortest time"},
		"scope of variables":        {change: func(o *compile.Options) { o.Scope = "1" }, want: "Scope is for the strategies with Lambda functions"},
		"scope of a Map": {change: func(o *compile.Options) {
			o.Strategy, o.Scope = compile.LambdaLoop, "{% $states.context.Map.Item.Index %}"
		}, want: "Scope must not read $states.context.Map"},
		"exit of no status":       {change: func(o *compile.Options) { o.Exits = exits("A", "C"); o.Exits["RUNNING"] = "D" }, want: "Exits must have a state for each of SUCCEEDED, FAILED, TIMED_OUT, and has one for RUNNING"},
		"exit that is missing":    {change: func(o *compile.Options) { o.Exits = exits("A", "") }, want: "Exits must have a state for TIMED_OUT"},
		"exit that is too long":   {change: func(o *compile.Options) { o.Exits = exits("A", strings.Repeat("x", 81)) }, want: "Exits must have a state for TIMED_OUT, with a name of 80 characters at most"},
		"start without operation": {call: compile.Call{Operation: e.Operation, Start: &compile.Start{}}, want: "Start must have the operation"},
		"two kinds of arguments": {
			call: compile.Call{Operation: e.Operation, Arguments: map[string]any{}, Start: &compile.Start{Operation: e.Operation}},
			want: "Arguments must be nil",
		},
		"stop of nothing": {
			call: compile.Call{Operation: e.Operation, Stop: &catalog.StopCall{Operation: "CancelExport"}},
			want: `Stop names the operation "CancelExport"`,
		},
		"stop without start": {
			call: compile.Call{Operation: e.Operation, Stop: &catalog.StopCall{Operation: "DescribeExport"}},
			want: "Stop needs Start",
		},
		"self-feeding in JSONata": {
			call: compile.Call{Operation: e.Operation, SelfFeeding: true, Arguments: map[string]any{}},
			want: "SelfFeeding is for strategies in JSONPath",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := good
			if c.change != nil {
				c.change(&o)
				c.call = compile.CallOf(e)
			}
			if c.waiter == nil && name != "no waiter" {
				c.waiter = e.Waiter
			}
			_, err := compile.Compile(c.waiter, c.call, o)
			require.ErrorContains(t, err, c.want)
			wrong, ok := errors.AsType[*compile.OptionError](err)
			require.True(t, ok)
			require.Equal(t, strings.Fields(c.want)[0], wrong.Field)
			require.NotErrorIs(t, err, compile.ErrNotCompiled)
		})
	}
}

// Names of the Lambda strategies are of states alone, which may have any characters.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	for strategy, prefix := range map[compile.Strategy]string{
		compile.LambdaRetry: "My export: ", compile.Variables: "été_2", compile.RetryTask: strings.Repeat("x", 56),
	} {
		o := compile.Options{Strategy: strategy, MaxWait: time.Hour, Prefix: prefix}
		compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
		require.NoError(t, err)
		require.Empty(t, asl.Validate(asl.Print(compiled.Machine), asl.Standard))
	}
}

// A job that is left alone is stopped neither by the machine nor by the functions.
func TestLeaveJob(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	for _, s := range everyStrategy {
		call := compile.CallOf(e)
		call.Start.Arguments = map[string]any{"QueryString": "SELECT 1"}
		stops := func() bool {
			compiled, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: s, MaxWait: time.Hour, Fit: true})
			require.NoError(t, err, s)
			definition := string(asl.Print(compiled.Machine))
			allowed := slices.ContainsFunc(compiled.Policy.Statement, func(s compile.Statement) bool {
				return slices.Contains(s.Action, "athena:StopQueryExecution")
			})
			require.Equal(t, strings.Contains(definition, "stopQueryExecution"), allowed, s)
			return allowed || strings.Contains(definition, "CheckStatus") && !strings.Contains(definition, `"onTimeout": "leave"`)
		}
		require.True(t, stops(), s)
		call.Stop = nil
		require.False(t, stops(), s)
	}
}

func exits(succeeded, timedOut string) map[pollcore.Status]string {
	return map[pollcore.Status]string{pollcore.Succeeded: succeeded, pollcore.Failed: "B", pollcore.TimedOut: timedOut}
}

// With Fit a schedule that the history has no room for gets a longer delay, in
// the definition too.
func TestFit(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "TableNotExists")
	require.NoError(t, err)
	for _, s := range everyStrategy {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			o := compile.Options{Strategy: s, MaxWait: 24 * time.Hour, MinDelay: time.Second, MaxDelay: time.Second, Events: 5000}
			compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
			if s.NeedsCollector() { // its polls are not in the history
				require.NoError(t, err)
				require.Less(t, compiled.Report().Worst.Events, 20.0)
				return
			}
			require.ErrorIs(t, err, compile.ErrNotCompiled)
			o.Fit = true
			fitted, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
			require.NoError(t, err)
			require.LessOrEqual(t, fitted.Report().Worst.Events, 5000.0)
			require.Empty(t, lint.Check(fitted.Machine, lint.Options{}))
			if s == compile.LambdaLoop || s == compile.LambdaRetry {
				return // the functions choose the delays
			}
			result, _ := polled(t, fitted, e.Operation, []any{map[string]any{"Table": map[string]any{"TableStatus": "ACTIVE"}}})
			require.Equal(t, "JobPoller.TimedOut", result.Error)
			require.LessOrEqual(t, len(result.Events), 5000)
			require.Greater(t, len(result.Events), 2500, "the share is used")
		})
	}
}

// All that is wrong is said at once, under the names that a surface has.
func TestRelabel(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	_, err = compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: compile.Variables, MinDelay: time.Millisecond, Events: -1})
	flags := map[string]string{"MaxWait": "--max-wait", "MinDelay": "--delay", "Events": "--events"}
	err = compile.Relabel(err, func(field string) string { return flags[field] })
	require.EqualError(t, err, "--max-wait is missing: say how long to wait at most, such as 2h\n"+
		"--delay must be whole seconds, because Step Functions waits whole seconds, is 1ms\n"+
		"--events must be from 1 to the 25000 events of an execution, is -1")
	require.NotErrorIs(t, err, compile.ErrNotCompiled)
	other := errors.New("other")
	require.Equal(t, other, compile.Relabel(other, strings.ToUpper))
}
