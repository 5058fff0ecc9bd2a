package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// judge says which findings of a file count, and as what: by the flags, the settings of the
// file and the comments of the definition.
type judge struct {
	options  *options
	settings *settings.Settings
	ignores  *ignore.Set // nil of a file with waiters
}

func (o *options) judgeOf(file string) *judge {
	return &judge{options: o, settings: o.settings.Of(file)}
}

func (o *options) judgeDefinition(d *source.Definition) *judge {
	j := o.judgeOf(d.File)
	j.ignores = kit.Ignores(d)
	return j
}

// checks tells whether a rule is checked. The flags win.
func (j *judge) checks(rule string) bool {
	switch o := j.options; {
	case slices.Contains(o.off, rule):
		return false
	case len(o.only) > 0:
		return slices.Contains(o.only, rule)
	default:
		return j.settings.Rules[rule].Value != settings.Off
	}
}

// off are the rules that are not checked by the flag or the settings. With --rule, which is
// asked for each finding, those of the settings are checked.
func (j *judge) off() []string {
	if len(j.options.only) > 0 {
		return j.options.off
	}
	return slices.Concat(j.options.off, j.settings.Off())
}

// severity is what a finding counts as.
func (j *judge) severity(rule string, found diag.Severity) diag.Severity {
	if severity, rated := j.settings.Severity(rule); rated {
		return severity
	}
	return found
}

// region is that of the prices of a file's state machines: AWS's, where they are deployed.
func (j *judge) region(file string) string {
	if of, err := stepfunctions.ParseOrigin(file); err == nil {
		return of.Region
	}
	return j.settings.Region.Value
}

// rate rates the findings of tables.
func (j *judge) rate(f lint.Finding) (severity diag.Severity, counts bool) {
	return j.severity(f.Rule, f.Severity), j.ignores.Find(f.Rule, f.Pointer) == nil
}
