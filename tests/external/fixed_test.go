package external_test

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// TestFixedDefinitionsAreValidElsewhere fixes the examples and, where they are, AWS's
// samples, by each strategy. A validator may find in the result what it finds in the
// definition before, and no more.
func TestFixedDefinitionsAreValidElsewhere(t *testing.T) {
	t.Parallel()
	texts := textsWithLoops(t, filepath.Join(root, "docs", "example"))
	require.NotEmpty(t, texts)
	samples := filepath.Join(cmp.Or(os.Getenv("JOBPOLLER_CORPUS"), filepath.Join(root, "..", "shared", "corpus")), "aws-samples")
	if _, err := os.Stat(samples); err == nil {
		texts = append(texts, textsWithLoops(t, samples)...)
	}
	var before, after []definition
	for _, d := range texts {
		for _, strategy := range fix.Strategies() {
			text, loops, err := fix.Apply(t.Context(), []byte(d.Definition), fix.Options{Strategy: strategy, Models: models.Load})
			require.NoError(t, err, d.Name)
			if slices.ContainsFunc(loops, func(l fix.Loop) bool { return l.Refused == "" }) {
				before, after = append(before, d), append(after, definition{d.Name + " by " + string(strategy), string(text)})
			}
		}
	}
	for _, strategy := range fix.Strategies() {
		require.True(t, slices.ContainsFunc(after, func(d definition) bool { return filepath.Base(d.Name) == "loop.asl.json by "+string(strategy) }), strategy)
	}
	old, fixed := check(t, before), check(t, after)
	for _, validator := range validators {
		passed := 0
		for i, d := range after {
			problems, ok := fixed[i].Problems[validator]
			require.True(t, ok, d.Name)
			if len(problems) == 0 {
				passed++
			}
			for _, problem := range problems {
				require.Contains(t, withoutLine(old[i].Problems[validator]), withoutLine([]string{problem})[0], d.Name)
			}
		}
		say("suite external: %s passed %d of %d fixed definitions, and found nothing new in the others", validator, passed, len(after))
	}
}

var lineOfProblem = regexp.MustCompile(`^line \d+: `)

// withoutLine are problems without their places, which change.
func withoutLine(problems []string) []string {
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = lineOfProblem.ReplaceAllString(problem, "")
	}
	return texts
}

// textsWithLoops are the definitions of a folder that have a loop which fix finds.
func textsWithLoops(t *testing.T, folder string) []definition {
	t.Helper()
	var all []definition
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
			return err
		}
		definitions, err := source.Load(t.Context(), []string{path}, source.Options{})
		if err != nil {
			return nil //nolint:nilerr // it is something else
		}
		for _, d := range definitions {
			m, err := d.Parse()
			if err == nil && slices.ContainsFunc(lint.Loops(m, lint.Options{}), func(l lint.Loop) bool { return l.Poll != nil }) {
				all = append(all, definition{d.Name, string(d.Text)})
			}
		}
		return nil
	}))
	return all
}
