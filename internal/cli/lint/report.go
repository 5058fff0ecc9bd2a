package lint

import (
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// report is what lint prints: what counts of the findings, and tables before them.
type report struct {
	found, ignored []Finding
	known          baselineUse
	since          diffUse
	tables         string
}

// newReport takes out of the findings what comments ignore, what the baseline knows, what the
// commit of --diff has, and what is not severe enough.
func (o *options) newReport(c *cobra.Command, names []string, read *linted) (*report, error) {
	r := &report{tables: o.tables.String() + o.ranking.String()}
	r.found, r.ignored = splitIgnored(read.found)
	least := severities[o.severity]
	accepted := baselineFile{o.baseline, o.update, read.isGone}
	var err error
	if r.found, r.known, err = accepted.apply(read.homes, r.found, o.checks); err != nil {
		return nil, err
	}
	if o.diff != "" {
		before, err := o.lintBase(c, names)
		if err != nil {
			return nil, err
		}
		was, _, err := accepted.apply(read.homes, before.found, o.checks)
		if err != nil {
			return nil, err
		}
		found := atLeast(r.found, least)
		compared := before.diff.comparable(found)
		r.found, r.since = newSince(o.diff, compared, atLeast(was, least), read.isUnread)
		r.since.apart = len(found) - len(compared)
		before.diff.warnOfModules(c, read.files)
		r.tables = describeChanges(compareLoops(before.tables, o.tables), o.diff)
	}
	r.found, r.ignored = atLeast(r.found, least), atLeast(r.ignored, least)
	return r, nil
}

// print prints the tables and the findings.
func (r *report) print(c *cobra.Command, output string) error {
	if r.tables != "" {
		terminal.Fprintf(c.OutOrStdout(), "%s\n", terminal.Lines(r.tables))
	}
	return printFindings(c.OutOrStdout(), output, r.found, r.ignored)
}

// summary is the last line, for people.
func (r *report) summary(read *linted) string {
	return summarize(r.found, len(read.files), read.thing) + r.since.String() + tellIgnored(r.ignored) + r.known.String() + read.tellPassed()
}
