package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// comment says what the machine is.
func (p *plan) comment() string {
	op, lambdas := p.call.Operation, p.functions
	var b strings.Builder
	switch {
	case p.own != nil:
		fmt.Fprintf(&b, "Polls by %s", p.own.resource())
	case p.collected:
		fmt.Fprintf(&b, "Runs the job %s with Lambda functions, of which one polls %s of %s and answers a Task,", p.call.Job, op.Name, op.Service.Name)
	case lambdas:
		fmt.Fprintf(&b, "Runs the job %s with two Lambda functions and polls %s of %s", p.call.Job, op.Name, op.Service.Name)
	case p.told:
		fmt.Fprintf(&b, "Runs %s and, when it has ended, calls %s of %s", p.syncJob().Sync, op.Name, op.Service.Name)
	case p.call.Start != nil:
		fmt.Fprintf(&b, "Calls %s of %s and then polls %s", p.call.Start.Operation.Name, op.Service.Name, op.Name)
	default:
		fmt.Fprintf(&b, "Polls %s of %s", op.Name, op.Service.Name)
	}
	fmt.Fprintf(&b, " until the waiter %s has a verdict, for %s at most. ", p.waiter.Name, p.options.MaxWait)
	switch {
	case lambdas && p.call.Arguments == nil:
		b.WriteString("The input is the arguments of the job. ")
	case lambdas: // the definition has them
	default:
		p.tellInput(&b)
	}
	if p.redrivable() {
		b.WriteString("A redrive resumes it. ")
	} else {
		b.WriteString("A redrive does not resume it. ")
	}
	fmt.Fprintf(&b, "Compiled by jobpoller, strategy %s.", p.options.Strategy)
	return b.String()
}

// tellInput says what the input is of a machine that calls services itself.
func (p *plan) tellInput(b *strings.Builder) {
	first, given, token := p.first()
	switch {
	case given != nil, p.own != nil: // the definition has it
	case p.optional() != nil:
		passed := slices.DeleteFunc(p.inputMembers(), func(name string) bool { return token != "" && name == javasdk.MemberName(token) })
		fmt.Fprintf(b, "The input is that of %s; the machine passes on %s. ", first.Name, strings.Join(passed, ", "))
	default:
		fmt.Fprintf(b, "The input is that of %s. ", first.Name)
	}
}

// warnings tells of services that Step Functions may not know, and of input that
// is not passed on.
func (p *plan) warnings() []string {
	warnings := []string{}
	if note := p.tellDelays(); note != "" {
		warnings = append(warnings, note)
	}
	if p.functions {
		return warnings
	}
	if len(p.failing) > 0 {
		warnings = append(warnings, fmt.Sprintf("Step Functions hides the error codes %s, "+
			"and jobpoller knows no text of their causes: such an error fails the wait, whatever the acceptors say",
			strings.Join(p.failing, ", ")))
	}
	if optional := p.optional(); optional != nil {
		op, _, _ := p.first()
		warnings = append(warnings, fmt.Sprintf("the machine passes on to %s only the required members of its input, %s: "+
			"name others in the arguments, some of %s",
			op.Name, strings.Join(p.inputMembers(), ", "), strings.Join(optional, ", ")))
	}
	if p.own != nil {
		return warnings
	}
	called := []*catalog.Operation{p.call.Operation}
	if p.call.Start != nil {
		called = append(called, p.call.Start.Operation)
	}
	if p.told {
		warnings = append(warnings, p.warningsOfWaiting()...)
		called = called[:1]
	}
	for _, op := range called {
		w := fmt.Sprintf("jobpoller does not know the AWS SDK integration %q of %s, a new service: "+
			"Step Functions may refuse the definition, or give errors other names",
			"aws-sdk:"+op.Service.ARNName, op.Service.Name)
		if asl.ParseResource(resource(op)).ErrorPrefix() == "" && !slices.Contains(warnings, w) {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// warningsOfWaiting tell of the Task in which Step Functions waits for the job.
func (p *plan) warningsOfWaiting() []string {
	job := p.syncJob()
	warnings := []string{"stop an execution while the job runs, and Step Functions stops the job; redrive it, and it starts the job again"}
	switch {
	case job.SyncDelay > 0:
	case job.SyncRule != "":
		warnings = append(warnings, fmt.Sprintf("Step Functions learns of the end by the EventBridge rule %s; "+
			"nobody has measured how late, and the report counts 0 s", job.SyncRule))
	default:
		warnings = append(warnings, "nobody knows the EventBridge rule by which Step Functions learns of the end: "+
			"if it is not authorized to create a managed rule, permit events:PutRule, PutTargets and DescribeRule on the rule that its error names")
	}
	if job.SyncNote != "" {
		warnings = append(warnings, job.SyncNote)
	}
	return warnings
}
