package fixtruth_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/fixtruth"
)

type object = map[string]any

// mutant is a change that the oracle must see, where the machine has what it changes.
type mutant struct {
	name  string
	kinds []fixtruth.Kind // one of which is reported
	apply func(states object) bool
}

var mutants = []mutant{
	{"a message dropped", []fixtruth.Kind{fixtruth.Lost}, func(s object) bool { return bypass(s, "Tell failed") }},
	{"a clean-up dropped", []fixtruth.Kind{fixtruth.Lost}, func(s object) bool { return bypass(s, "Clean up") }},
	{"a call behind success dropped", []fixtruth.Kind{fixtruth.Lost}, func(s object) bool { return bypass(s, "Tell done") }},
	{"a progress write dropped", []fixtruth.Kind{fixtruth.Lost}, func(s object) bool { return bypass(s, "Write progress") }},
	{"a call before the loop dropped", []fixtruth.Kind{fixtruth.Lost}, func(s object) bool {
		prepare, is := s["Prepare"].(object)
		if is {
			s["Prepare"] = object{"Type": "Pass", "Next": prepare["Next"]}
		}
		return is
	}},
	{"an exit moved to success", []fixtruth.Kind{fixtruth.End}, func(s object) bool {
		return retarget(s, "Done?", func(next string) bool { return next == "Job failed" || next == "Tell failed" || next == "Clean up" }, "Report")
	}},
	{"success moved to failure", []fixtruth.Kind{fixtruth.End}, func(s object) bool {
		return retarget(s, "Done?", func(next string) bool { return next == "Report" }, "Job failed")
	}},
	{"an argument changed", []fixtruth.Kind{fixtruth.Arguments}, func(s object) bool { return change(s, "Tell failed", "TopicArn", "arn:other") }},
	{"another function called", []fixtruth.Kind{fixtruth.Lost}, func(s object) bool { return change(s, "Tell done", "FunctionName", "other") }},
	{"another error of the Fail", []fixtruth.Kind{fixtruth.Error}, func(s object) bool {
		if s["Job failed"] == nil {
			return false
		}
		s["Job failed"].(object)["Error"] = "Job.Broken"
		return true
	}},
	{"another cause of the Fail", []fixtruth.Kind{fixtruth.Cause}, func(s object) bool {
		if s["Job failed"] == nil || s["Job failed"].(object)["Cause"] != "The job failed." {
			return false
		}
		s["Job failed"].(object)["Cause"] = "The job is broken."
		return true
	}},
	{"an error swallowed", []fixtruth.Kind{fixtruth.End}, func(s object) bool {
		look := s["Look"].(object)
		if look["Catch"] != nil {
			return false
		}
		look["Catch"] = []any{object{"ErrorEquals": []any{"States.ALL"}, "Next": "Succeeded"}}
		return true
	}},
	{"a Catch dropped", []fixtruth.Kind{fixtruth.End, fixtruth.Error}, func(s object) bool { return drop(s, "Look", "Catch") }},
	{"a Retry dropped", []fixtruth.Kind{fixtruth.End, fixtruth.Error, fixtruth.Data, fixtruth.Lost, fixtruth.Added}, func(s object) bool { return drop(s, "Look", "Retry") }},
	{"the first Wait shorter", []fixtruth.Kind{fixtruth.FirstPoll}, func(s object) bool { return set(s, "First wait", "Seconds", 20.0, 5) }},
	{"the first Wait dropped", []fixtruth.Kind{fixtruth.FirstPoll}, func(s object) bool { return bypass(s, "First wait") }},
	{"the Wait of the loop shorter", []fixtruth.Kind{fixtruth.Pace}, func(s object) bool { return set(s, "Pause", "Seconds", 30.0, 10) }},
	{"an output member renamed", []fixtruth.Kind{fixtruth.Data}, func(s object) bool {
		return set(s, "Report", "ResultPath", "$.report", "$.reported")
	}},
	{"the data of the poll lost", []fixtruth.Kind{fixtruth.Data}, func(s object) bool {
		report := s["Report"].(object)
		if report["ResultPath"] == nil {
			return false
		}
		report["OutputPath"] = "$.report"
		return true
	}},
	{"a variable not counted", []fixtruth.Kind{fixtruth.End}, func(s object) bool { return drop(s, "Pause", "Assign") }},
	{"a variable with another value", []fixtruth.Kind{fixtruth.Polled}, func(s object) bool {
		start, is := s["Start job"].(object)
		if !is || start["Assign"] == nil {
			return false
		}
		start["Assign"] = object{"jobId": "job-7"}
		return true
	}},
	{"a call added", []fixtruth.Kind{fixtruth.Added}, func(s object) bool {
		report := maps.Clone(s["Report"].(object))
		s["Report twice"] = report
		s["Report"] = object{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Next": "Report twice"}
		if report["ResultPath"] != nil {
			s["Report"].(object)["Parameters"], s["Report"].(object)["ResultPath"] = object{"FunctionName": "f"}, nil
		} else {
			s["Report"].(object)["Arguments"], s["Report"].(object)["Output"] = object{"FunctionName": "f"}, "{% $states.input %}"
		}
		return true
	}},
}

// neutral are changes that nothing shows.
var neutral = []mutant{
	{"a comment", nil, func(s object) bool {
		s["Look"].(object)["Comment"] = "asks for the job"
		return true
	}},
	{"a state renamed", nil, func(s object) bool {
		s["Answer"] = s["Report"]
		delete(s, "Report")
		lead(s, "Report", "Answer")
		return true
	}},
	{"a Pass put in", nil, func(s object) bool {
		lead(s, "Pause", "Rest")
		s["Rest"] = object{"Type": "Pass", "Next": "Pause"}
		return true
	}},
}

func TestOracleSeesMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			eachIntact(t, m.apply, func(d *fixtruth.Drawn, after []byte, j *fixtruth.Judgement) {
				seen := slices.ContainsFunc(j.Undeclared, func(u fixtruth.Difference) bool { return slices.Contains(m.kinds, u.Kind) })
				require.True(t, seen, "seed %d: %v: %v\n%s", d.Seed, d.Forms, j.Undeclared, after)
			})
		})
	}
}

func TestOracleSeesNothingWhereNothingIs(t *testing.T) {
	t.Parallel()
	for _, m := range neutral {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			eachIntact(t, m.apply, func(d *fixtruth.Drawn, after []byte, j *fixtruth.Judgement) {
				require.Empty(t, j.Undeclared, "seed %d: %v\n%s", d.Seed, d.Forms, after)
			})
		})
	}
}

// eachIntact applies a change to machines without faults, and judges three of them.
func eachIntact(t *testing.T, apply func(object) bool, check func(*fixtruth.Drawn, []byte, *fixtruth.Judgement)) {
	t.Helper()
	tried := 0
	for s := uint64(0); tried < 3; s++ {
		require.Less(t, s, uint64(2000), "only %d machines have what it changes", tried)
		d := fixtruth.Draw(s)
		if len(d.Faults) > 0 {
			continue
		}
		var top object
		if json.Unmarshal(d.Text, &top) != nil || !apply(scope(top)) {
			continue // a placeholder stands where a number does, or there is nothing to change
		}
		prune(top, scope(top))
		after, err := json.Marshal(top)
		require.NoError(t, err)
		j, err := d.Judge(t.Context(), after, fixtruth.Declared{})
		require.NoError(t, err, "seed %d\n%s", d.Seed, after)
		require.True(t, j.Changed)
		check(d, after, j)
		tried++
	}
}

// The intact twin is the best repair: in a frame of all answers it misses nothing, whoever
// leaves the machine as it is misses each run in which a fault shows, and whoever declares
// nothing has undeclared differences.
func TestOracleKnowsMendedMachines(t *testing.T) {
	t.Parallel()
	shown := 0
	for s := range uint64(24) {
		d := fixtruth.Draw(s)
		if len(d.Faults) == 0 {
			continue
		}
		ways, err := d.Ways(t.Context(), "Look")
		require.NoError(t, err)
		statuses := slices.Collect(maps.Keys(ways))
		everything := fixtruth.Declared{Frames: []fixtruth.Frame{{Statuses: statuses, Errors: []string{"States.ALL"}, AnyOther: true, Above: time.Second, Absent: true, Spelled: d.StatusMember()}}}
		j, err := d.Judge(t.Context(), d.Twin, fixtruth.Declared{})
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(j.Undeclared), min(1, j.Shown), "seed %d: %v, %v", s, d.Forms, d.Faults)
		require.Zero(t, j.Framed, "seed %d", s)
		j, err = d.Judge(t.Context(), d.Twin, everything)
		require.NoError(t, err)
		require.Equal(t, fixtruth.Judgement{Changed: true, Shown: j.Shown, Framed: j.Shown - j.Debated, Debated: j.Debated}, *j, "seed %d: %v, %v", s, d.Forms, d.Faults)
		left, err := d.Judge(t.Context(), d.Text, everything)
		require.NoError(t, err)
		require.Len(t, left.Missed, left.Framed, "seed %d", s)
		require.Equal(t, j.Framed, left.Framed, "seed %d", s)
		shown += j.Shown
	}
	require.Positive(t, shown)
}

func TestSuiteKnowsItsForms(t *testing.T) {
	t.Parallel()
	forms, faults := map[string]int{}, map[string]int{}
	for s := range uint64(300) {
		d := fixtruth.Draw(s)
		for _, name := range d.Forms {
			forms[name]++
		}
		for _, name := range d.Faults {
			faults[name]++
		}
		require.Equal(t, d.Text, fixtruth.Draw(s).Text)
	}
	require.Equal(t, fixtruth.FormNames(), slices.Sorted(maps.Keys(forms)))
	require.Equal(t, fixtruth.FaultNames(), slices.Sorted(maps.Keys(faults)))
	require.GreaterOrEqual(t, len(forms), 30)
}

// The judge must not know what it judges.
func TestOracleReadsHistoriesAlone(t *testing.T) {
	t.Parallel()
	const module = "github.com/jobpoller/jobpoller/"
	allowed := []string{module + "statemachines/asl", module + "statemachines/sim", module + "statemachines/history"}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	read := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			require.True(t, !strings.Contains(path, ".") || slices.Contains(allowed, path), "%s imports %s", f.Name(), path)
			read++
		}
	}
	require.Greater(t, read, 10)
}

// scope returns the states beside the poll.
func scope(value any) object {
	switch v := value.(type) {
	case object:
		if v["Look"] != nil {
			return v
		}
		for _, below := range v {
			if found := scope(below); found != nil {
				return found
			}
		}
	case []any:
		for _, below := range v {
			if found := scope(below); found != nil {
				return found
			}
		}
	}
	return nil
}

// lead leads what led to one state to another.
func lead(value any, from, to string) {
	switch v := value.(type) {
	case object:
		for k, below := range v {
			if (k == "Next" || k == "Default") && below == from {
				v[k] = to
			}
			lead(below, from, to)
		}
	case []any:
		for _, below := range v {
			lead(below, from, to)
		}
	}
}

// prune removes states that nothing leads to: a definition must not have them.
func prune(top, states object) {
	for before := -1; before != len(states); {
		before = len(states)
		text, err := json.Marshal(top)
		if err != nil {
			panic(err)
		}
		maps.DeleteFunc(states, func(name string, _ any) bool {
			return !strings.Contains(string(text), `"StartAt":"`+name+`"`) && !isLedTo(states, name)
		})
	}
}

// bypass leads around a state that something leads to.
func bypass(states object, name string) bool {
	state, is := states[name].(object)
	if !is || !isLedTo(states, name) {
		return false
	}
	lead(states, name, state["Next"].(string))
	delete(states, name)
	return true
}

func isLedTo(states object, name string) bool {
	text, err := json.Marshal(states)
	return err == nil && (strings.Contains(string(text), `"Next":"`+name+`"`) || strings.Contains(string(text), `"Default":"`+name+`"`))
}

// retarget moves the rules of a Choice.
func retarget(states object, name string, is func(next string) bool, to string) bool {
	if states[to] == nil {
		return false
	}
	moved := false
	for _, rule := range states[name].(object)["Choices"].([]any) {
		if next, has := rule.(object)["Next"].(string); has && is(next) && next != to {
			moved = true
			rule.(object)["Next"] = to
		}
	}
	return moved
}

func set(states object, name, member string, from, to any) bool {
	state, is := states[name].(object)
	if !is || state[member] != from {
		return false
	}
	state[member] = to
	return true
}

func drop(states object, name, member string) bool {
	state := states[name].(object)
	_, has := state[member]
	delete(state, member)
	return has
}

// change changes a literal argument.
func change(states object, name, argument, to string) bool {
	state, is := states[name].(object)
	if !is {
		return false
	}
	for _, field := range []string{"Parameters", "Arguments"} {
		if arguments, is := state[field].(object); is && arguments[argument] != nil {
			arguments[argument] = to
			return true
		}
	}
	return false
}
