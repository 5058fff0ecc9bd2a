package cdkapp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// refusedMachineProps are the fields of the prop StateMachineProps that cannot be passed
// on, and why. All others are.
var refusedMachineProps = map[string]string{
	"Definition":              "give Job, such as JobFromDefinition",
	"DefinitionBody":          "give Job, such as JobFromDefinition",
	"QueryLanguage":           "the definition says it",
	"EncryptionConfiguration": "give EncryptionKey",
	"TracingEnabled":          "give TracingEnabled beside StateMachineProps",
}

// checkMachineProps refuses what cannot be passed on to the state machine.
func (p where) checkMachineProps(props *awsstepfunctions.StateMachineProps) {
	if props == nil {
		return
	}
	checkAll(
		func() { p.refuseFields("StateMachineProps", *props, refusedMachineProps) },
		func() { p.checkType(props.StateMachineType) },
		func() {
			if l := props.Logs; l != nil && l.Level == awsstepfunctions.LogLevel_OFF && orElse(l.IncludeExecutionData, false) {
				p.refuse("StateMachineProps.Logs", "Level is OFF, so nothing is logged: leave IncludeExecutionData out")
			}
		},
	)
}

func (p where) checkType(kind awsstepfunctions.StateMachineType) {
	const prop = "StateMachineProps.StateMachineType"
	switch kind {
	case "", awsstepfunctions.StateMachineType_STANDARD:
	case awsstepfunctions.StateMachineType_EXPRESS:
		p.refuse(prop, "it must be STANDARD: an Express execution ends after 5 minutes, may run twice and start the job again, "+
			"and cannot be redriven; leave it out")
	default:
		p.refuse(prop, "it must be %q, is %q", awsstepfunctions.StateMachineType_STANDARD, kind)
	}
}

// useProps puts what the prop StateMachineProps says of the definition into it. An
// execution that ended before the longest wait would leave the job alone.
func (m *machine) useProps(in where, props *awsstepfunctions.StateMachineProps, longest time.Duration) {
	given := orElse(props, awsstepfunctions.StateMachineProps{})
	for _, name := range slices.Sorted(maps.Keys(orElse(given.DefinitionSubstitutions, nil))) {
		const prop = "StateMachineProps.DefinitionSubstitutions"
		if slices.Contains([]string{runJobKey, checkStatusKey, stopJobKey, partitionKey}, name) {
			in.refuse(prop, "%s is set here: leave it out", name)
		}
		if !m.invokes(name) {
			in.refuse(prop, "the definition has no ${%s}: leave it out, or give the definition with JobFromDefinition", name)
		}
	}
	const prop = "StateMachineProps.Timeout"
	if limit := in.wholeSeconds(prop, given.Timeout); limit > 0 {
		if limit <= longest {
			in.refuse(prop, "it must be longer than MaxWait (%s), is %s: the execution would end before the wait, and leave the job alone", longest, limit)
		}
		m.limit = limit
		if old := m.set("TimeoutSeconds", strconv.Itoa(int(limit/time.Second))); old != "" {
			seconds, _ := strconv.Atoi(old) // 0 for a placeholder, whose value is not known yet
			m.longest = time.Duration(seconds) * time.Second
		}
	}
	if given.Comment != nil {
		m.set("Comment", string(jsontree.Quote(*given.Comment)))
	}
}

// warnLimit tells that executions may not live as long as the definition foresees.
func (m *machine) warnLimit(scope constructs.Construct) {
	if m.limit < m.longest {
		awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:limit"), new(fmt.Sprintf(
			"StateMachineProps.Timeout is shorter than the %s that the definition can take with all retries: "+
				"an execution that ends by it leaves the job alone, and says States.Timeout", m.longest)))
	}
}

// set sets a field of the definition. It returns the old value.
func (m *machine) set(field, value string) (old string) {
	document, err := jsontree.Parse([]byte(m.definition))
	if err != nil {
		panic(err) // it was read before
	}
	if has := document.Root.Get(field); has != nil {
		m.definition = m.definition[:has.Offset] + value + m.definition[has.End:]
		return string(has.Raw())
	}
	start := document.Root.Offset + len("{")
	m.definition = m.definition[:start] + fmt.Sprintf("\n  %q: %s,", field, value) + m.definition[start:]
	return ""
}

// makeStateMachine makes the state machine of the props that are passed on, with
// defaults where there are none.
func (p *jobPoller) makeStateMachine(props *JobPollerProps) {
	passed := orElse(props.StateMachineProps, awsstepfunctions.StateMachineProps{}) // a copy
	passed.Comment, passed.Timeout = nil, nil                                       // they are in the definition
	if props.EncryptionKey != nil {
		passed.EncryptionConfiguration = awsstepfunctions.NewCustomerManagedEncryptionConfiguration(props.EncryptionKey, nil)
		if passed.StateMachineName == nil {
			// The CDK lets the role use the key for the state machine of this name.
			passed.StateMachineName = awscdk.Names_UniqueResourceName(p, &awscdk.UniqueResourceNameOptions{
				MaxLength: new(80.0), AllowedSpecialCharacters: new("-_"), Separator: new("-"),
			})
			awscdk.Annotations_Of(p).AddWarningV2(new("jobpoller:encryptionKey"), new(fmt.Sprintf(
				"with EncryptionKey the name of the state machine is %s: this deployment replaces one that was deployed without a key, "+
					"and its executions cannot be redriven; give StateMachineProps.StateMachineName from the first deployment on", *passed.StateMachineName)))
		}
	}
	values := map[string]*string{}
	maps.Copy(values, orElse(passed.DefinitionSubstitutions, nil))
	for _, f := range p.invoked {
		values[f.key] = f.arn
	}
	if p.machine.invokes(partitionKey) {
		values[partitionKey] = awscdk.Stack_Of(p).Partition()
	}
	passed.DefinitionBody = awsstepfunctions.DefinitionBody_FromString(&p.machine.definition)
	passed.DefinitionSubstitutions = &values
	passed.Logs = p.logOptions(passed.Logs)
	passed.Role = p.role
	passed.StateMachineType = awsstepfunctions.StateMachineType_STANDARD
	passed.TracingEnabled = new(orElse(props.TracingEnabled, true))
	p.stateMachine = awsstepfunctions.NewStateMachine(p, new("StateMachine"), &passed)
	p.releaseMachine()
}

// logOptions say what is logged; nil if nothing is.
func (p *jobPoller) logOptions(given *awsstepfunctions.LogOptions) *awsstepfunctions.LogOptions {
	if p.logGroup == nil {
		return nil
	}
	options := orElse(given, awsstepfunctions.LogOptions{})
	options.Destination = p.logGroup
	if options.Level == "" {
		options.Level = awsstepfunctions.LogLevel_ALL
	}
	if options.IncludeExecutionData == nil {
		options.IncludeExecutionData = new(false)
	}
	return &options
}
