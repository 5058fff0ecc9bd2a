package conformance_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fieldFrame says how a machine behaves before and after a repair, for some answers.
// For all other answers it behaves alike.
type fieldFrame struct{ pair, rule, answers, before, after, kinds string }

// fieldPair is a machine before and after a repair, in the corpus.
type fieldPair struct {
	name string
	// kind is "mend" for an edit that mends, "ask" for one that only the user can
	// choose, "wrong" for one that must be refused.
	kind          string
	before, after string // files
	frames        []fieldFrame
	// bound is when the loop ends after the repair; 0 if it ends by itself.
	bound time.Duration
}

// readFrames reads the frames of the pairs.
func readFrames(t *testing.T) []fieldFrame {
	t.Helper()
	var out []fieldFrame
	for _, v := range readTable(t, fieldFolder+"/repairs.tsv", 6) {
		out = append(out, fieldFrame{v[0], v[1], v[2], v[3], v[4], v[5]})
	}
	return out
}

// readPairs reads the pairs of the corpus. Each has a frame, and each frame a pair.
func readPairs(t *testing.T, folder string) []fieldPair {
	t.Helper()
	frames := map[string][]fieldFrame{}
	for _, f := range readFrames(t) {
		frames[f.pair] = append(frames[f.pair], f)
	}
	var out []fieldPair
	for _, v := range readTable(t, folder+"/repairs/index.tsv", 5) {
		p := fieldPair{name: v[0], kind: v[1], frames: frames[v[0]]}
		if strings.HasSuffix(v[3], " States.Runtime") {
			bound, err := time.ParseDuration(strings.Fields(v[4])[1])
			require.NoError(t, err, p.name)
			p.bound = bound
		}
		require.Contains(t, []string{"mend", "ask", "wrong"}, p.kind, p.name)
		require.NotEmpty(t, p.frames, p.name)
		delete(frames, p.name)
		for part, file := range map[string]*string{"before": &p.before, "after": &p.after} {
			files, err := filepath.Glob(folder + "/repairs/" + p.name + "/" + part + ".*")
			require.NoError(t, err)
			require.Len(t, files, 1, p.name)
			*file = files[0]
		}
		out = append(out, p)
	}
	require.Empty(t, frames, "frames without a pair")
	return out
}

// lint compares what lint says before and after a repair that mends: the finding is
// there, then it is not, and nothing but a NOTE is new.
func (p *fieldPair) lint(t *testing.T) []fieldCase {
	t.Helper()
	before, after := lintLines(t, p.before), lintLines(t, p.after)
	var cases []fieldCase
	var seen []string
	for _, f := range p.frames {
		if slices.Contains(seen, f.rule) {
			continue
		}
		seen = append(seen, f.rule)
		has := func(line string) bool { return strings.Contains(line, " "+f.rule+" ") }
		found := fieldCase{aspect: "before: " + f.rule}
		if !slices.ContainsFunc(before, has) {
			found.instead = "not found"
		}
		gone := fieldCase{aspect: "after: no " + f.rule}
		if i := slices.IndexFunc(after, has); i >= 0 {
			gone.instead = after[i]
		}
		cases = append(cases, found, gone)
	}
	fresh := slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) || strings.HasPrefix(line, "NOTE ") })
	return append(cases, fieldCase{"after: nothing new", strings.Join(fresh, "; ")})
}
