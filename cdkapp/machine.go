package cdkapp

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// The placeholders of a definition, without ${ and }. CloudFormation puts values
// in their place.
const (
	runJobKey      = "RunJobFunction"
	checkStatusKey = "CheckStatusFunction"
	partitionKey   = "Partition"
)

func inBraces(key string) string { return "${" + key + "}" }

// machine is a whole state machine, ready to be deployed.
type machine struct {
	definition string // with placeholders
	// strategy is "" for a definition that was not compiled here.
	strategy compile.Strategy
	report   *compile.Report
	// needed is what its calls need, but for the functions, on the resources that
	// narrowed has for an action.
	needed   []permission
	narrowed map[string][]string
	unnamed  unnamed
	// arguments are those of the job that its functions start, nil if they are the
	// input's.
	arguments map[string]any
	granted   []awsiam.PolicyStatement // by the prop Grants
	given     []awsiam.PolicyStatement // with a definition
	// jobs are those that its functions run, and maxWait how long they may take,
	// as far as the definition tells; open is that there are more.
	jobs    []string
	open    bool
	maxWait time.Duration
	// limit is how long an execution may last by the prop StateMachineProps, and longest
	// by the definition; 0 if they do not say it.
	limit, longest time.Duration
	// waitsForCallback is that a Task waits for a callback of the functions.
	waitsForCallback bool
	// delays are the longest of a job, where the definition tells.
	delays map[string]time.Duration
	// auto is that the signal was chosen here, and whyPoll why it is POLL.
	auto    bool
	whyPoll string
	// announced is that a driver of the user's own knows events of the job's end.
	announced bool
}

// machine is what the props ask for.
func (p *polling) machine() *machine {
	var b *bound
	checkAll(func() { b = p.bind() }, func() {
		if b == nil {
			p.schedule(&compile.Options{})
		}
	})
	m := &machine{}
	if b.waiter == nil {
		m = p.fromDefinition(b)
	} else {
		compiled := p.compile(b, form{runJob: inBraces(runJobKey), checkStatus: inBraces(checkStatusKey)})
		m.definition = anyPartition(string(asl.Print(compiled.Machine)))
		m.useCompiled(compiled)
		m.use(p, compiled)
	}
	m.check(p.where)
	return m
}

// use takes over what the props of a compiled wait say.
func (m *machine) use(p *polling, compiled *compile.Compiled) {
	m.unnamed, m.arguments = compiled.Unnamed, p.started
	m.auto, m.whyPoll = p.Signal == SignalAuto, p.whyPoll
	if of, ok := p.Job.(*drivenJob); ok {
		_, m.announced = of.driver.(EventSource)
	}
}

// fromDefinition is the machine of a definition, which leaves nothing to the other props.
func (p *polling) fromDefinition(b *bound) *machine {
	props := reflect.ValueOf(*p)
	for i := range props.NumField() {
		if field := props.Type().Field(i); field.IsExported() && field.Name != "Job" && !props.Field(i).IsZero() {
			p.refuse(field.Name, "the job is a definition (%s), which says how it waits: "+
				"leave this prop out, or name the job with JobFromCatalog", b.name)
		}
	}
	if strings.Contains(b.definition, "${Token[") {
		p.pathOf("Job", "the definition", b.definition) // which cannot have one in its text
	}
	m := &machine{definition: b.definition, given: b.statements}
	if b.shipped != nil {
		m.useCompiled(b.shipped)
		if roles := b.shipped.Unnamed[passRole]; len(roles) > 0 { // who deploys one chooses the rest later
			m.unnamed = unnamed{passRole: roles}
		}
	}
	if b.isShipped {
		named := strings.NewReplacer(
			`"`+statemachines.RunJobFunction+`"`, `"`+inBraces(runJobKey)+`"`,
			`"`+statemachines.CheckStatusFunction+`"`, `"`+inBraces(checkStatusKey)+`"`,
		)
		m.definition = named.Replace(anyPartition(m.definition))
	}
	return m
}

func (m *machine) useCompiled(c *compile.Compiled) {
	report := c.Report()
	m.report, m.strategy = &report, c.Strategy
	if c.Strategy.UsesFunctions() {
		return // all that it calls are the functions
	}
	for _, s := range c.Policy.Statement {
		for _, resource := range s.Resource {
			for _, action := range s.Action {
				to := s.Condition["StringEquals"]["iam:PassedToService"]
				m.needed = append(m.needed, permission{action, resource, strings.Join(to, ",")})
			}
		}
	}
}

const invokeAction = "lambda:InvokeFunction"

// anyPartition makes the SDK integrations of a definition those of the partition
// that it is deployed to.
func anyPartition(definition string) string {
	return strings.ReplaceAll(definition, `"arn:aws:states:::`, `"arn:`+inBraces(partitionKey)+`:states:::`)
}

// check refuses what Step Functions would, and finds out what the functions run.
func (m *machine) check(in where) {
	if len(m.definition) > asl.MaxDefinitionBytes {
		in.refuse("Job", "a definition can have %d bytes, and this one has %d: pass large data in the execution's input or in S3",
			asl.MaxDefinitionBytes, len(m.definition))
	}
	if _, err := asl.Parse([]byte(cdkTokens.ReplaceAllString(m.definition, "token"))); err != nil {
		in.refuseFor(err, "Job", "Step Functions would refuse the definition: %v", err)
	}
	if m.throughFunctions() {
		var tree any
		if err := json.Unmarshal([]byte(m.definition), &tree); err != nil {
			in.refuseFor(err, "Job", "%v", err)
		}
		m.requests(tree)
	}
}

// cdkTokens are the tokens of the CDK in a string.
var cdkTokens = regexp.MustCompile(`\$\{Token\[[^\]]*\]\}`)

// invokes tells whether the definition has the placeholder, such as that of a function.
func (m *machine) invokes(key string) bool { return strings.Contains(m.definition, inBraces(key)) }

func (m *machine) throughFunctions() bool { return m.invokes(runJobKey) || m.invokes(checkStatusKey) }

// requests looks for what the function run-job is asked for.
func (m *machine) requests(tree any) {
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			m.requests(item)
		}
	case map[string]any:
		job, isText := tree["job"].(string)
		seconds, isNumber := tree["maxWaitSeconds"].(float64)
		switch {
		case isText && isNumber && !strings.HasPrefix(job, "{%"):
			m.maxWait = max(m.maxWait, time.Duration(seconds)*time.Second)
			if !slices.Contains(m.jobs, job) {
				m.jobs = append(m.jobs, job)
			}
			m.delay(job, tree)
		case isText && tree["maxWaitSeconds"] != nil, tree["job.$"] != nil:
			m.open = true
		}
		m.waitsForCallback = m.waitsForCallback || isCallback(tree)
		for _, member := range tree {
			m.requests(member)
		}
	}
}

// delay finds the longest delay before a poll in a request.
func (m *machine) delay(job string, request map[string]any) {
	seconds, known := request["maxDelay"].(float64)
	initial, _ := request["initialDelay"].(float64)
	longest := time.Duration(max(seconds, initial)) * time.Second
	if text, err := json.Marshal(request["schedule"]); err == nil && !known {
		var planned pollcore.Planned
		planned, err = pollcore.ParsePlanned(text)
		known, longest = err == nil, slices.Max(append(planned.Delays, planned.Then, planned.Before(1)+planned.Jitter))
	}
	if !known {
		return
	}
	if m.delays == nil {
		m.delays = map[string]time.Duration{}
	}
	m.delays[job] = max(m.delays[job], longest)
}

// warn tells what the report warns of, and what the history made of the delays.
func warn(scope constructs.Construct, r *compile.Report) {
	if r == nil {
		return
	}
	if r.Choice != "" {
		awscdk.Annotations_Of(scope).AddInfoV2(new("jobpoller:choice"), &r.Choice)
	}
	for _, warning := range r.Warnings {
		awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:compile"), &warning)
	}
}
