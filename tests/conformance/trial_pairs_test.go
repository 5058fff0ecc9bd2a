package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// trialPairSuites are the machines before and after an edit. A case passes if the runs of both
// show what the edit is: one that mends changes the runs of its frame alone, and in one that
// must be refused something speaks against it.
var trialPairSuites = []suite{{name: "trial-pairs", folder: "field", cases: 63, run: runTrialPairs}}

func runTrialPairs(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	for _, p := range readPairs(t, folder) {
		out.total++
		if why := p.tryEdit(t); why != "" {
			out.failures[p.name] = why
		}
	}
	return out
}

// tryEdit says what the runs show that they should not; empty for nothing.
func (p *fieldPair) tryEdit(t *testing.T) string {
	t.Helper()
	against, mended := p.compare(t)
	switch {
	case p.kind == "wrong" && against == "":
		return "nothing speaks against it"
	case p.kind == "wrong":
		return ""
	case against != "":
		return against
	default:
		return mended
	}
}

// compare runs both machines. It returns what speaks against the edit, and which frame no run
// is mended in.
func (p *fieldPair) compare(t *testing.T) (against, unmended string) {
	t.Helper()
	before, err := parseFile(t, p.before)
	require.NoError(t, err, p.name)
	after, err := parseFile(t, p.after)
	if err != nil {
		return err.Error(), ""
	}
	frame, o := p.frame(t)
	report, err := trial.Compare(t.Context(), before, after, o)
	require.NoError(t, err, p.name)
	if all := report.Objections(frame...); len(all) > 0 {
		return all[0].String(), ""
	}
	for _, f := range p.frames {
		kinds, except := f.read(t)
		if len(kinds) > 0 && len(report.Mended(kinds...)) == 0 || len(except) > 0 && len(report.Runs) == 0 {
			return "", "nothing differs with " + f.kinds
		}
	}
	return "", ""
}

// frame are the kinds of answers of all rules that the edit is for.
func (p *fieldPair) frame(t *testing.T) ([]trial.Kind, trial.Options) {
	t.Helper()
	var kinds []trial.Kind
	o := trial.Options{Models: models.Load}
	for _, f := range p.frames {
		more, except := f.read(t)
		kinds, o.Except = append(kinds, more...), append(o.Except, except...)
	}
	return kinds, o
}

// read reads the kinds of a frame: a sort and a value of it, "any" answer of the Task that
// polls, an "argument" of a Task or a member of the "output" that may differ in all runs.
func (f *fieldFrame) read(t *testing.T) (kinds []trial.Kind, except []trial.Member) {
	t.Helper()
	for item := range strings.SplitSeq(f.kinds, "; ") {
		sort, value, _ := strings.Cut(item, " ")
		switch sort {
		case "any":
			kinds = append(kinds, trial.Kind{Task: "Look"})
		case "argument":
			task, member, _ := strings.Cut(value, " ")
			except = append(except, trial.Member{Task: task, Path: member})
		case "output":
			except = append(except, trial.Member{Path: value})
		default:
			require.Contains(t, []trial.Sort{trial.Status, trial.Fails, trial.Never, trial.Bare, trial.Silent}, trial.Sort(sort), item)
			k := trial.Kind{Sort: trial.Sort(sort), Value: value}
			if k.Sort != trial.Silent {
				k.Task = "Look"
			}
			kinds = append(kinds, k)
		}
	}
	return kinds, except
}

// parseFile reads the one definition of a file.
func parseFile(t *testing.T, file string) (*asl.StateMachine, error) {
	t.Helper()
	d, err := source.LoadOne(t.Context(), file, source.Options{})
	require.NoError(t, err, file)
	m, err := d.Parse()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}
