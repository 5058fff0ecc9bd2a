package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A running status that a repair leads back ends as another one does: at the loop's bound, and not past it.
func TestEndsAsRunning(t *testing.T) {
	t.Parallel()
	status := func(task, value string) []trial.Kind {
		return []trial.Kind{{Task: task, Sort: trial.Status, Value: value}}
	}
	tried := &candidate{running: []string{"RUNNING"}}
	for name, c := range map[string]struct {
		run, other trial.Run
		want       bool
	}{
		"the same bound":          {trial.Run{Kinds: status("Look", "WAITING"), After: badEnd}, trial.Run{Kinds: status("Look", "RUNNING"), After: badEnd}, true},
		"a later poll":            {trial.Run{Kinds: status("Look", "WAITING"), After: badEnd}, trial.Run{Kinds: status("Look", "RUNNING"), After: laterEnd}, false},
		"a status that has ended": {trial.Run{Kinds: status("Look", "WAITING"), After: badEnd}, trial.Run{Kinds: status("Look", "FAILED"), After: badEnd}, false},
		"another poll":            {trial.Run{Kinds: status("Look", "WAITING"), After: badEnd}, trial.Run{Kinds: status("Other", "RUNNING"), After: badEnd}, false},
		"a success of both":       {trial.Run{Kinds: status("Look", "WAITING"), After: goodEnd}, trial.Run{Kinds: status("Look", "RUNNING"), After: goodEnd}, false},
		"behind another answer": {
			trial.Run{Kinds: status("Look", "WAITING"), After: badEnd},
			trial.Run{Kinds: append(status("First", "DONE"), status("Look", "RUNNING")...), After: badEnd},
			false,
		},
		"no answer varies": {trial.Run{After: badEnd}, trial.Run{After: badEnd}, false},
	} {
		require.Equal(t, c.want, tried.endsAsRunning(&c.run, &trial.Report{Runs: []trial.Run{c.other}}), name)
	}
}

func TestCheckBounded(t *testing.T) {
	t.Parallel()
	staying := func(value string, before, after trial.Outcome) trial.Run {
		return trial.Run{Script: "a job that stays " + value, Before: before, After: after, Kinds: []trial.Kind{
			{Task: "Look", Sort: trial.Never, Value: value}, {Task: "Look", Sort: trial.Status, Value: value},
		}}
	}
	polls, late := trial.Outcome{Status: trial.PollsOn, Asked: 50}, trial.Outcome{Status: "FAILED", Error: "Late", Asked: 20}
	of := []trial.Kind{{Task: "Look", Sort: trial.Never, Value: "WAITING"}, {Task: "Look", Sort: trial.Status, Value: "WAITING"}}
	for name, c := range map[string]struct {
		running []string
		run     trial.Run
		other   trial.Run
		want    string
	}{
		"past the bound": {
			[]string{"RUNNING"},
			staying("WAITING", badEnd, polls), staying("RUNNING", late, late),
			"with a job that stays WAITING, the machine polls on for ever with it, and with a job that stays RUNNING it fails Late",
		},
		"up to the bound":             {[]string{"RUNNING"}, staying("WAITING", badEnd, late), staying("RUNNING", late, late), ""},
		"no bound":                    {[]string{"RUNNING"}, staying("WAITING", badEnd, polls), staying("RUNNING", polls, polls), ""},
		"it polled on before":         {[]string{"RUNNING"}, staying("WAITING", polls, polls), staying("RUNNING", late, late), ""},
		"the other ends at once":      {[]string{"RUNNING"}, staying("WAITING", badEnd, polls), staying("RUNNING", badEnd, badEnd), ""},
		"a line about an end":         {nil, staying("WAITING", badEnd, polls), staying("RUNNING", late, late), ""},
		"a job that ends":             {[]string{"RUNNING"}, staying("WAITING", badEnd, polls), trial.Run{After: late}, ""},
		"a status of no line goes on": {[]string{"RUNNING"}, staying("PAUSED", badEnd, polls), staying("RUNNING", late, late), ""},
	} {
		err := (&candidate{running: c.running, of: of}).checkBounded(&trial.Report{Runs: []trial.Run{c.run, c.other}})
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
}
