package compile_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// A wait for which the history has no room gets a delay or a strategy for which it has,
// where the options leave that open, and the machine says so.
func TestChoice(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	call := compile.CallOf(e)
	call.Start, call.Stop = nil, nil
	minutely := &pollcore.Planned{Delays: seconds(60), Then: time.Minute}
	for name, c := range map[string]struct {
		options  compile.Options
		strategy compile.Strategy
		choice   string
	}{
		"the default has room":         {compile.Options{MaxWait: 8 * time.Hour}, compile.Variables, ""},
		"a strategy has room":          {compile.Options{Strategy: compile.RetryTask, MaxWait: 48 * time.Hour}, compile.RetryTask, ""},
		"no delay is named":            {compile.Options{MaxWait: 60 * time.Hour}, compile.Variables, "the longest delay is 82 s, not 30 s: with 30 s the wait could take "},
		"a strategy is named":          {compile.Options{Strategy: compile.Loop, MaxWait: 8 * time.Hour}, compile.Loop, "the shortest delay is 11 s, not 2 s: with 2 s the wait could take 129617 events of the history, and its share is 24000"},
		"the shortest delay is named":  {compile.Options{MaxWait: 60 * time.Hour, MinDelay: 10 * time.Second}, compile.Variables, "the longest delay is 82 s, not 30 s"},
		"the longest delay is named":   {compile.Options{MaxWait: 60 * time.Hour, MaxDelay: time.Minute}, compile.RetryTask, "the strategy is retry-task, not variables: with variables the wait could take "},
		"all delays are named":         {compile.Options{MaxWait: 60 * time.Hour, Schedule: minutely}, compile.RetryTask, "the strategy is retry-task, not variables"},
		"a named delay that may grow":  {compile.Options{MaxWait: 60 * time.Hour, MaxDelay: time.Minute, Fit: true}, compile.Variables, "the longest delay is 82 s, not 60 s"},
		"the functions poll":           {compile.Options{Strategy: compile.LambdaLoop, MaxWait: 60 * time.Hour}, compile.LambdaLoop, "the longest delay is 82 s, not 30 s"},
		"a delay of a named strategy":  {compile.Options{Strategy: compile.Variables, MaxWait: 60 * time.Hour, MaxDelay: time.Minute}, "", "the strategy retry-task fits"},
		"no delay has room":            {compile.Options{MaxWait: 2 * time.Hour, Events: 20}, compile.RetryTask, "the strategy is retry-task, not variables: with variables the wait could take "},
		"the delays of two strategies": {compile.Options{MaxWait: 365 * 24 * time.Hour, MaxDelay: time.Minute}, "", "it fits with a longest delay of "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := call
			if c.options.Strategy.UsesFunctions() {
				call = compile.CallOf(e)
			}
			made, err := compile.Compile(e.Waiter, call, c.options)
			if c.strategy == "" {
				refused, ok := errors.AsType[*compile.NotCompiledError](err)
				require.True(t, ok, err)
				require.Positive(t, refused.Events)
				require.ErrorContains(t, err, c.choice)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.strategy, made.Strategy)
			require.Equal(t, c.choice, made.Choice[:min(len(made.Choice), len(c.choice))])
			require.Equal(t, c.choice == "", made.Choice == "")
			require.Equal(t, made.Choice, made.Report().Choice)
			require.LessOrEqual(t, made.Report().Worst.Events, float64(compile.DefaultEvents))
		})
	}
}

// Options without delays and strategy compile for any wait that an execution can take.
func TestChoiceOfEveryWait(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	for _, hours := range []int{1, 24, 44, 45, 100, 1000, 365 * 24} {
		t.Run(fmt.Sprint(hours), func(t *testing.T) {
			t.Parallel()
			for _, s := range append(compile.Strategies(), "") {
				if s.Waits() {
					continue
				}
				made, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: s, MaxWait: time.Duration(hours) * time.Hour})
				require.NoError(t, err, s)
				require.LessOrEqual(t, made.Report().Worst.Events, float64(compile.DefaultEvents))
			}
		})
	}
}
