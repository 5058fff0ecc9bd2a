package lint_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

var update = flag.Bool("update", false, "write the golden files")

const reportFile = "../../../docs/catalog-lint.md"

func catalogue(t *testing.T) []lint.Entry {
	t.Helper()
	entries, err := lint.Catalog(catalog.AWS, "", lint.Options{})
	require.NoError(t, err)
	return entries
}

// AWS's own data compares with seven values that are in no enum. They were
// found by other means before there were rules.
func TestKnownDefectsAreFound(t *testing.T) {
	t.Parallel()
	var found []string
	for _, e := range catalogue(t) {
		for _, f := range e.Findings {
			if f.Rule == lint.EnumValue && f.Severity != diag.Note {
				found = append(found, fmt.Sprintf("%s.%s %d %s", e.Service, e.Name, f.Acceptor+1, f.Suggestion))
			}
		}
	}
	require.Equal(t, []string{
		"appconfig.EnvironmentReadyForDeployment 1 READY_FOR_DEPLOYMENT",
		"appconfig.EnvironmentReadyForDeployment 2 ROLLED_BACK",
		"appconfig.EnvironmentReadyForDeployment 3 REVERTED",
		"ec2.ConversionTaskDeleted 1 ",
		"omics.AnnotationStoreDeleted 1 ",
		"omics.AnnotationStoreVersionDeleted 1 ",
		"omics.VariantStoreDeleted 1 ",
	}, found)
}

// These were found by eye, before there were rules: each polls on in a state
// that nothing leaves.
func TestKnownGapsAreFound(t *testing.T) {
	t.Parallel()
	gaps := map[string]string{
		"ec2 VolumeAvailable": "error", "ec2 SubnetAvailable": "failed", "dsql ClusterActive": "FAILED", "iotsitewise PortalActive": "FAILED",
	}
	for _, e := range catalogue(t) {
		for _, f := range e.Findings {
			gap := lint.Value{Value: gaps[e.Service+" "+e.Name], Verdict: pollcore.Failure}
			if f.Rule == lint.Unclassified && f.Severity == diag.Warning && slices.Contains(f.Values, gap) {
				delete(gaps, e.Service+" "+e.Name)
			}
		}
	}
	require.Empty(t, gaps)
}

// The waiters of the catalogue's own jobs classify every value of a status.
func TestJobsClassifyEveryValue(t *testing.T) {
	t.Parallel()
	for _, e := range catalogue(t) {
		for _, f := range e.Findings {
			if e.Kind == catalog.AWSJob && f.Rule == lint.Unclassified {
				t.Errorf("%s %s: %s", e.Service, e.Name, f.Message)
			}
		}
	}
}

// docs/catalog-lint.md is what the rules find. -update writes it.
func TestCatalogueReport(t *testing.T) {
	t.Parallel()
	got := report(catalogue(t))
	if *update {
		require.NoError(t, os.WriteFile(reportFile, []byte(got), 0o600))
	}
	want, err := os.ReadFile(reportFile)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run go test ./pollcore/catalog/lint -update")
}

// reported is a finding with its entry.
type reported struct {
	lint.Finding

	entry lint.Entry
}

const reportHead = `# What lint finds in the catalogue

The rules of ` + "`jobpoller lint`" + ` on all %d waiters of AWS and %d jobs in the catalogue.
[waiter-lint.md](reference/waiter-lint.md) has the reason and the remedy of each rule. The page
is made by ` + "`go test ./pollcore/catalog/lint -update`" + ` and kept up by the same test.

A DANGER can never do what it is written for, a WARNING may go wrong, a NOTE is worth
knowing. What a value looks like is read from its name, unless the table of jobs says
it: those are marked with *. A waiter for something to be deleted may well do without
an acceptor for CREATE_FAILED; whether a finding matters is for its user to judge.
`

func report(entries []lint.Entry) string {
	var b strings.Builder
	kinds := map[catalog.Kind]int{}
	var all []reported
	for _, e := range entries {
		kinds[e.Kind]++
		for _, f := range e.Findings {
			all = append(all, reported{f, e})
		}
	}
	fmt.Fprintf(&b, reportHead, kinds[catalog.AWSWaiter], kinds[catalog.AWSJob])
	byRule(&b, all)
	byService(&b, entries)
	for _, rule := range lint.Rules() {
		details(&b, rule, slices.DeleteFunc(slices.Clone(all), func(f reported) bool { return f.Rule != rule.Name }))
	}
	return b.String()
}

func row(b *strings.Builder, cells ...any) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", strings.ReplaceAll(fmt.Sprint(c), "|", `\|`))
	}
	b.WriteString("|\n")
}

func dash(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func byRule(b *strings.Builder, all []reported) {
	b.WriteString("\n## By rule\n\n")
	row(b, "rule", "what it finds", "DANGER", "WARNING", "NOTE", "waiters and jobs")
	row(b, "---", "---", "---", "---", "---", "---")
	for _, rule := range lint.Rules() {
		severities, in := map[pollcore.Severity]int{}, map[string]bool{}
		for _, f := range all {
			if f.Rule == rule.Name {
				severities[f.Severity]++
				in[f.entry.Service+" "+f.entry.Name] = true
			}
		}
		row(b, "`"+rule.Name+"`", rule.About, dash(severities[diag.Danger]), dash(severities[diag.Warning]), dash(severities[diag.Note]), dash(len(in)))
	}
}

func byService(b *strings.Builder, entries []lint.Entry) {
	type counts struct{ entries, danger, warning, note, clean int }
	services := map[string]*counts{}
	for _, e := range entries {
		c := services[e.Service]
		if c == nil {
			c = &counts{}
			services[e.Service] = c
		}
		c.entries++
		before := c.danger + c.warning
		for _, f := range e.Findings {
			switch f.Severity {
			case diag.Error, diag.Danger:
				c.danger++
			case diag.Warning:
				c.warning++
			case diag.Note:
				c.note++
			}
		}
		if c.danger+c.warning == before {
			c.clean++
		}
	}
	b.WriteString("\n## By service\n\nServices in which more than notes are found; the others have none.\n\n")
	row(b, "service", "waiters and jobs", "with notes at most", "DANGER", "WARNING", "NOTE")
	row(b, "---", "---", "---", "---", "---", "---")
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if c := services[name]; c.clean < c.entries {
			row(b, name, c.entries, dash(c.clean), dash(c.danger), dash(c.warning), dash(c.note))
		}
	}
}

// details lists what a rule found, but for what are notes.
func details(b *strings.Builder, rule lint.Rule, found []reported) {
	severe := slices.DeleteFunc(found, func(f reported) bool { return f.Severity == diag.Note })
	if len(severe) == 0 {
		return
	}
	slices.SortStableFunc(severe, func(a, b reported) int { return cmp.Compare(a.Severity, b.Severity) })
	fmt.Fprintf(b, "\n## %s\n\n", rule.Name)
	if rule.Name == lint.Unclassified {
		b.WriteString("Values that look like an end and that no acceptor takes.\n\n")
		row(b, "waiter", "as a failure", "as a success")
		row(b, "---", "---", "---")
		for _, f := range severe {
			row(b, f.entry.Service+" "+f.entry.Name, values(f.Values, pollcore.Failure), values(f.Values, pollcore.Success))
		}
		return
	}
	row(b, "waiter", "", "finding")
	row(b, "---", "---", "---")
	for _, f := range severe {
		text := f.Message
		if f.Suggestion != "" {
			text += fmt.Sprintf(" (did you mean %q?)", f.Suggestion)
		}
		where := f.entry.Service + " " + f.entry.Name
		if f.Acceptor != pollcore.NoAcceptor {
			where += fmt.Sprintf(", acceptor %d", f.Acceptor+1)
		}
		row(b, where, f.Severity, text)
	}
}

func values(all []lint.Value, verdict pollcore.Verdict) string {
	var names []string
	for _, v := range all {
		if v.Verdict == verdict {
			name := v.Value
			if v.Known {
				name += `\*`
			}
			names = append(names, name)
		}
	}
	return strings.ReplaceAll(strings.Join(names, ", "), "_", `\_`)
}
