package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// lintFormats are the formats of findings beside text and JSON.
var lintFormats = []string{"sarif", "github"}

// options are the flags of "jobpoller lint".
type options struct {
	express     bool
	only, off   []string
	severity    string // the least that is reported
	baseline    string // file of findings that are known
	update      bool   // writes the baseline
	diff        string // a branch, tag or commit, whose findings do not count
	files       fs.FS  // that are read; nil for the disk
	output      string
	rules       bool
	showConfig  bool
	loops       bool
	tables      *loopTables // printed before the findings; nil: none
	ranking     *ranking    // of an account, in the place of tables
	substitutes []string
	settings    *kit.Settings // of the config files
	// integrations are those that AWS added after this program was made.
	integrations []string
	statuses     []string // what the user says of them
	said         map[string]lint.Meaning
	unused       map[string]lint.Meaning // of said, by no loop so far

	service, operation string // that the waiters poll

	askAWS     bool
	testStates bool // with TestState
	inputFile  string
	aws        kit.AwsFlags
	opinion    *awsOpinion // nil unless askAWS

	account bool
	regions []string
	keep    string // file of what account has read
}

// validate reports what is wrong with the flags, all at once.
func (o *options) validate(names []string, changed func(flag string) bool) error {
	problems := []error{kit.CheckOutput(o.output, lintFormats...), o.aws.Validate()}
	if _, ok := severities[o.severity]; !ok {
		names := severityNames()
		problems = append(problems, fmt.Errorf("--severity must be %s, is %q%s", kit.OrList(names), o.severity, nearest.DidYouMean(o.severity, names)))
	}
	var err error
	if o.said, err = kit.ReadStatuses(o.statuses); err != nil {
		problems = append(problems, err)
	}
	o.unused = maps.Clone(o.said)
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.service != "" {
		problems = append(problems, kit.CheckService(o.service))
	}
	if o.operation != "" && o.service == "" {
		report("--operation %s needs --service", o.operation)
	}
	for _, name := range o.integrations {
		if service, action, _ := strings.Cut(name, ":"); service == "" || service == "arn" || action == "" {
			report("--integration must be SERVICE:ACTION, the end of a Resource such as arn:aws:states:::dynamodb:query, is %q", name)
		}
	}
	for _, region := range o.regions {
		if err := awscall.CheckRegion(region); err != nil {
			report("--region: %w%s", err, map[bool]string{true: ": pass --region once for each"}[o.account && strings.Contains(region, ",")])
		}
	}
	callsAWS := o.askAWS || o.account || slices.ContainsFunc(names, source.IsARN)
	switch {
	case o.account && len(names) > 0:
		report("--account reads all state machines of the account: leave %s out", names[0])
	case !o.account && len(o.regions) > 1:
		report("--region: pass one, or --account, which reads several")
	case !o.account && len(o.regions) == 1:
		o.aws.Region = o.regions[0]
	}
	if changed("diff") {
		problems = append(problems, o.checkDiff(names))
	}
	problems = append(problems, kit.Meaningless(changed, []kit.Meaning{
		{
			Flags: []string{"express", "substitute", "service"}, Means: !o.account,
			Why: "is for files, and --account reads state machines at AWS: remove one of them",
		},
		{
			Flags: []string{"aws"}, Means: !o.account,
			Why: "is not for --account, whose definitions AWS has taken: to have AWS test the states of one, pass its ARN",
		},
		{Flags: []string{"keep"}, Means: o.account, Why: "needs --account"},
		{
			Flags: []string{"loops", "express", "substitute", "integration"}, Means: o.service == "",
			Why: "is for definitions, and --service is for waiters: remove one of them",
		},
		{
			Flags: []string{"rule", "off", "severity", "express", "baseline", "aws"}, Means: !o.loops,
			Why: "is not for --loops, which checks nothing: remove one of them",
		},
		{Flags: []string{"region", "profile", "endpoint-url"}, Means: callsAWS, Why: "needs --aws, --account or an ARN: nothing else calls AWS"},
		{Flags: []string{"test-states"}, Means: o.askAWS, Why: "needs --aws"},
		{Flags: []string{"input"}, Means: o.testStates, Why: "needs --test-states"},
		{Flags: []string{"aws"}, Means: o.service == "", Why: "is for definitions, and --service is for waiters: remove one of them"},
		{
			Flags: []string{"output"},
			Means: !o.loops && !o.rules && !o.showConfig || !slices.Contains(lintFormats, o.output),
			Why:   "sarif and github are for findings: --loops, --rules and --show-config have text and json",
		},
		{
			Flags: []string{
				"account", "aws", "baseline", "express", "integration", "keep", "loops", "operation", "rules", "service", "severity", "update-baseline",
			},
			Means: !o.showConfig, Why: "is not for --show-config, which checks nothing: remove one of them",
		},
		{Flags: []string{"update-baseline"}, Means: o.baseline != "", Why: "needs --baseline FILE"},
		{
			Flags: []string{"account", "aws", "update-baseline", "rules", "show-config"}, Means: o.diff == "",
			Why: "is not for --diff, which compares findings in files: remove one of them",
		},
	})...)
	return errors.Join(append(problems, o.checkRules()...)...)
}

// checkDiff refuses what no commit has.
func (o *options) checkDiff(names []string) error {
	switch at := slices.IndexFunc(names, func(name string) bool { return name == kit.Stdin || source.IsARN(name) }); {
	case o.diff == "":
		return errors.New("--diff needs a branch, a tag or a commit, such as origin/main")
	case at >= 0:
		return fmt.Errorf("--diff compares files of a git repository: leave %s out", names[at])
	}
	return nil
}

// checkRules refuses rules that there are not.
func (o *options) checkRules() (problems []error) {
	known := kit.RuleNames()
	for _, flag := range []struct {
		name  string
		rules []string
	}{{"rule", o.only}, {"off", o.off}} {
		for _, name := range flag.rules {
			if !slices.Contains(known, name) {
				problems = append(problems, fmt.Errorf("--%s: there is no rule %q%s; list them: jobpoller lint --rules", flag.name, name, nearest.DidYouMean(name, known)))
			}
		}
	}
	return problems
}

// checks tells whether lint checks a rule in a file.
func (o *options) checks(file, rule string) bool { return o.judgeOf(file).checks(rule) }

// noteSaid notes which statuses of --status loops use.
func (o *options) noteSaid(loops []lint.Loop) {
	left := lint.UnusedSaid(o.unused, loops)
	maps.DeleteFunc(o.unused, func(status string, _ lint.Meaning) bool { _, unused := left[status]; return !unused })
}
