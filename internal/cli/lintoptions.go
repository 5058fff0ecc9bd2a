package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// lintFormats are the formats of findings beside text and JSON.
var lintFormats = []string{"sarif", "github"}

// lintOptions are the flags of "jobpoller lint".
type lintOptions struct {
	express     bool
	only, off   []string
	severity    string // the least that is reported
	baseline    string // file of findings that are known
	update      bool   // writes the baseline
	output      string
	rules       bool
	loops       bool
	tables      *loopTables // printed before the findings; nil: none
	substitutes []string
	// integrations are those that AWS added after this program was made.
	integrations []string

	service, operation string // that the waiters poll

	askAWS     bool
	testStates bool // with TestState
	inputFile  string
	aws        awsFlags
	opinion    *awsOpinion // nil unless askAWS
}

// validate reports what is wrong with the flags, all at once.
func (o *lintOptions) validate(changed func(flag string) bool) error {
	problems := []error{checkOutput(o.output, lintFormats...), o.aws.validate()}
	if _, ok := severities[o.severity]; !ok {
		names := severityNames()
		problems = append(problems, fmt.Errorf("--severity must be %s, is %q%s", orList(names), o.severity, nearest.DidYouMean(o.severity, names)))
	}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.service != "" {
		if _, err := catalog.AWS().Service(o.service); err != nil {
			problems = append(problems, notFound(err, o.service, ""))
		}
	}
	if o.operation != "" && o.service == "" {
		report("--operation %s needs --service", o.operation)
	}
	for _, name := range o.integrations {
		if service, action, _ := strings.Cut(name, ":"); service == "" || service == "arn" || action == "" {
			report("--integration must be SERVICE:ACTION, the end of a Resource such as arn:aws:states:::dynamodb:query, is %q", name)
		}
	}
	problems = append(problems, meaningless(changed, []meaning{
		{
			flags: []string{"loops", "express", "substitute", "integration"}, means: o.service == "",
			why: "is for definitions, and --service is for waiters: remove one of them",
		},
		{
			flags: []string{"rule", "off", "severity", "express", "baseline", "aws"}, means: !o.loops,
			why: "is not for --loops, which checks nothing: remove one of them",
		},
		{flags: []string{"region", "profile", "endpoint-url", "test-states"}, means: o.askAWS, why: "needs --aws"},
		{flags: []string{"input"}, means: o.testStates, why: "needs --test-states"},
		{flags: []string{"aws"}, means: o.service == "", why: "is for definitions, and --service is for waiters: remove one of them"},
		{
			flags: []string{"output"},
			means: !o.loops && !o.rules || !slices.Contains(lintFormats, o.output),
			why:   "sarif and github are for findings: --loops and --rules have text and json",
		},
		{flags: []string{"update-baseline"}, means: o.baseline != "", why: "needs --baseline FILE"},
	})...)
	known := ruleNames()
	for _, flag := range []struct {
		name  string
		rules []string
	}{{"rule", o.only}, {"off", o.off}} {
		for _, name := range flag.rules {
			if !slices.Contains(known, name) {
				report("--%s: there is no rule %q%s; list them: jobpoller lint --rules", flag.name, name, nearest.DidYouMean(name, known))
			}
		}
	}
	return errors.Join(problems...)
}

// checks tells whether lint checks a rule.
func (o *lintOptions) checks(rule string) bool {
	return (len(o.only) == 0 || slices.Contains(o.only, rule)) && !slices.Contains(o.off, rule)
}
