package cdkapp

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
)

const (
	// maxDescription is how long the description of a function can be.
	maxDescription = 256
	// maxFunctionName is how long the name of a function can be.
	maxFunctionName = 64
	// defaultMemory is the least that Lambda has. docs/bench.md says what the
	// functions need of it.
	defaultMemory = 128
	// defaultTimeout bounds how long a job whose start was cut off stays
	// JobPoller.JobStartInProgress. The state machines wait a minute for that, and
	// the functions add a lease margin of 5 seconds.
	defaultTimeout = 30 * time.Second
	maxTimeout     = 55 * time.Second
)

// refusedFunctionProps are the fields of the prop FunctionProps that cannot be passed
// on, and why. All others are.
var refusedFunctionProps = map[string]string{
	"Code":                     "give RunJobCode, CheckStatusCode and CollectorCode for code of your own",
	"Handler":                  `it is "bootstrap"`,
	"Runtime":                  "it is PROVIDED_AL2023",
	"ApplicationLogLevel":      "give LogLevel",
	"ApplicationLogLevelV2":    "give LogLevel",
	"LogFormat":                "the functions write JSON",
	"LoggingFormat":            "the functions write JSON",
	"LogRemovalPolicy":         "give a LogGroup of your own",
	"LogRetention":             "give LogRetention beside FunctionProps",
	"LogRetentionRole":         "no function sets the retention: give LogRetention beside FunctionProps",
	"LogRetentionRetryOptions": "no function sets the retention: give LogRetention beside FunctionProps",
	"Tracing":                  "give TracingEnabled",
	"InitialPolicy":            "give Grants",
	"Events":                   "only state machines and the queue of the collector may invoke the functions",
	"DurableConfig":            "the functions keep what they have done in the store",
	"TenancyConfig":            "Step Functions names no tenant",
	"SnapStart":                "PROVIDED_AL2023 has none",
	"Profiling":                "CodeGuru does not profile Go",
	"ProfilingGroup":           "CodeGuru does not profile Go",
}

// functionName is what Lambda takes as the name of a function.
var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkFunctionProps refuses what cannot be passed on to the functions.
func (p where) checkFunctionProps(props *awslambda.FunctionProps) {
	if props == nil {
		return
	}
	checkAll(
		func() { p.refuseFields("FunctionProps", *props, refusedFunctionProps) },
		func() { p.checkEnvironment(orElse(props.Environment, nil)) },
		func() {
			if d := props.Timeout; d != nil {
				if d := p.duration("FunctionProps.Timeout", d); d < time.Second || d > maxTimeout {
					p.refuse("FunctionProps.Timeout", "expected 1 to %g seconds, found %s: RunJob states wait only a minute", maxTimeout.Seconds(), d)
				}
			}
		},
		func() {
			if a := props.Architecture; a != nil && goArchitectures[*a.Name()] == "" {
				p.refuse("FunctionProps.Architecture", "expected ARM_64 or X86_64, found %q", *a.Name())
			}
		},
		func() {
			longest := maxFunctionName - len("-"+checkStatusFunction.title())
			if name := text(props.FunctionName); props.FunctionName != nil && !isToken(name) && (len(name) > longest || !functionName.MatchString(name)) {
				p.refuse("FunctionProps.FunctionName", "expected up to %d letters, digits, - and _, found %q: "+
					"each function adds its own name, such as -%s", longest, name, checkStatusFunction.title())
			}
		},
		func() {
			if v := props.CurrentVersionOptions; v != nil && v.RemovalPolicy != "" && v.RemovalPolicy != awscdk.RemovalPolicy_RETAIN {
				p.refuse("FunctionProps.CurrentVersionOptions", "its RemovalPolicy must be RETAIN, which is the default: executions in flight invoke earlier versions")
			}
		},
	)
}

func (p where) checkEnvironment(variables map[string]*string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if variables[name] == nil {
			p.refuse("FunctionProps.Environment", "%s is nil: give it a value, or leave it out", name)
		}
		if slices.Contains(ownVariables, name) {
			p.refuse("FunctionProps.Environment", "%s is set by other props", name)
		}
	}
}

// goArchitectures are Go's names of Lambda's architectures.
var goArchitectures = map[string]string{"arm64": "arm64", "x86_64": "amd64"}

// architecture returns the architecture of the functions, for the CDK and for Go.
func (f *functions) architecture() (awslambda.Architecture, string) {
	found := f.passed.Architecture
	if found == nil {
		found = awslambda.Architecture_ARM_64()
	}
	return found, goArchitectures[*found.Name()]
}

// propsOf are the props of one of the functions: those that are passed on, with
// defaults where there are none.
func (f *functions) propsOf(of function) *awslambda.FunctionProps {
	p := f.passed // a copy
	p.Handler, p.Runtime = new("bootstrap"), awslambda.Runtime_PROVIDED_AL2023()
	p.Architecture, _ = f.architecture()
	if p.FunctionName != nil {
		p.FunctionName = new(*p.FunctionName + "-" + of.title())
	}
	if p.Description == nil {
		p.Description = new(f.describe(of))
	}
	if p.MemorySize == nil {
		p.MemorySize = new(float64(defaultMemory))
	}
	if p.Timeout == nil {
		p.Timeout = awscdk.Duration_Seconds(new(defaultTimeout.Seconds()))
	}
	if of == collectorFunction && p.RecursiveLoop == "" {
		// It sends messages to the queue that invokes it: one for each poll. Lambda would take
		// that for a mistake, and stop it after some 16 polls of a job
		// (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
		p.RecursiveLoop = awslambda.RecursiveLoop_ALLOW
	}
	p.CurrentVersionOptions = keepVersions(p.CurrentVersionOptions)
	p.LoggingFormat = awslambda.LoggingFormat_JSON // else Lambda has the functions write text
	p.Tracing = awslambda.Tracing_ACTIVE
	if !f.tracing() {
		p.Tracing = awslambda.Tracing_DISABLED
	}
	return &p
}

func (f *functions) describe(of function) string {
	description := of.does + ": " + strings.Join(f.jobs[:min(3, len(f.jobs))], ", ") + "."
	if len(description) > maxDescription { // names of the user's own
		return of.does + "."
	}
	return description
}

func (f *functions) tracing() bool { return orElse(f.props.TracingEnabled, true) }
