package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// uses says where an entry can be used: as the job of a request, by "jobpoller
// compile" and by "jobpoller wait".
func uses(e *catalog.Entry) []string {
	all := append(asJob(e), asStateMachine(e))
	if err := awsjob.New(anyRegion).Check(e.Operation); err != nil {
		return append(all, "in Go: "+inGo(e), cannotCall(e, err))
	}
	return append(all, strings.TrimSpace(fmt.Sprintf("jobpoller wait %s %s %s", e.Service.Key, e.Name, waitArguments(e))))
}

// anyRegion is for questions about operations that do not depend on the region.
var anyRegion = aws.Config{Region: "us-east-1"}

// asStateMachine lists the strategies that compile the entry: as it is, with
// patterns of causes, and with arguments.
func asStateMachine(e *catalog.Entry) string {
	var taken, withCauses, failing, withArguments []string
	var why error
	for _, s := range compile.Strategies() {
		// What a strategy takes does not depend on the max wait.
		o := compile.Options{Strategy: s, MaxWait: 24 * time.Hour, Fit: true}
		_, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
		refused, lossy := errors.AsType[*compile.NotCompiledError](err)
		oneReason := lossy && len(refused.Reasons) == 1
		switch {
		case err == nil:
			taken = append(taken, string(s))
		case oneReason && refused.Unmodeled != nil:
			withCauses = append(withCauses, string(s))
		case oneReason && refused.Optional != nil:
			withArguments = append(withArguments, string(s))
		case lossy && compilesFailing(e, o):
			failing = append(failing, string(s))
		case why == nil: // the first strategy takes the most, so its refusal says the most
			why = err
		}
	}
	var texts []string
	for _, group := range []struct {
		strategies []string
		with       string
	}{
		{taken, ""},
		{withCauses, " with --cause or --unmodeled fail"},
		{failing, " with --unmodeled fail"},
		{withArguments, " with --arguments"},
	} {
		if group.strategies != nil {
			texts = append(texts, strings.Join(group.strategies, ", ")+group.with)
		}
	}
	if texts == nil {
		return fmt.Sprintf("jobpoller compile cannot express %s %s: %v", e.Service.Key, e.Name, why)
	}
	return fmt.Sprintf("jobpoller compile %s %s: %s", e.Service.Key, e.Name, strings.Join(texts, "; "))
}

// compilesFailing tells whether a strategy that refuses the entry takes it if errors
// whose codes Step Functions hides fail the wait.
func compilesFailing(e *catalog.Entry, o compile.Options) bool {
	o.UnmodeledFails = true
	_, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
	return err == nil
}

// asJob says whether requests of the Lambda functions can name the entry.
func asJob(e *catalog.Entry) []string {
	var all []string
	if e.Job != nil {
		all = append(all, asRequest(e, e.FullName(), "starts and polls it"))
	}
	return append(all, asRequest(e, e.Service.Key+":"+e.Waiter.Name, "polls what you start"))
}

// asRequest says whether requests can name a job.
func asRequest(e *catalog.Entry, name, does string) string {
	if _, err := awsjob.NewDriver(anyRegion, catalog.AWS(), name); err != nil {
		return fmt.Sprintf("the Lambda functions cannot run %q: %s", name, lackOf(e.Operation, err))
	}
	return fmt.Sprintf("job %q of a request: %s", name, does)
}

// protocolNames are what AWS calls the protocols that jobpoller does not speak.
var protocolNames = map[catalog.Protocol]string{
	"ec2": "EC2 query", "query": "AWS query", "rest-xml": "REST XML", "smithy-rpc-v2-cbor": "RPC v2 CBOR",
}

// lackOf says why jobpoller cannot call an operation.
func lackOf(op *catalog.Operation, err error) string {
	unsupported, ok := errors.AsType[*awsjob.UnsupportedError](err)
	switch {
	case !ok:
		return err.Error()
	case len(unsupported.Protocols) == 0:
		return unsupported.Lack
	default:
		name := cmp.Or(protocolNames[unsupported.Protocols[0]], string(unsupported.Protocols[0]))
		return fmt.Sprintf("the protocol of %s, %s, is not supported", op.Service.Name, name)
	}
}

// cannotCall says that jobpoller cannot call what the entry polls, and why.
func cannotCall(e *catalog.Entry, err error) string {
	return fmt.Sprintf("jobpoller wait cannot call %s: %s", e.Operation.Name, lackOf(e.Operation, err))
}

// inGo is how a program waits for what this command cannot call.
func inGo(e *catalog.Entry) string {
	return fmt.Sprintf("pollcore.Wait with the waiter of catalog.Lookup(%q, %q) and pollcore.Call(client.%s) of the SDK's client",
		e.Service.Key, e.Name, e.Operation.Name)
}

// cliWaiter is the command of the AWS CLI for a waiter. It is empty for a job, and for
// a waiter that botocore does not have: its entry has no total wait.
func cliWaiter(e *catalog.Entry) string {
	if e.Kind != catalog.AWSWaiter || e.TotalWait == 0 {
		return ""
	}
	return fmt.Sprintf("aws %s wait %s", e.Service.Key, kebab(e.Waiter.Name))
}

var (
	beforeWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(.)([A-Z][a-z]+)`) })
	afterWord  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z0-9])([A-Z])`) })
)

// kebab spells a name as the AWS CLI does: DBInstanceAvailable is
// db-instance-available.
func kebab(name string) string {
	return strings.ToLower(afterWord().ReplaceAllString(beforeWord().ReplaceAllString(name, "$1-$2"), "$1-$2"))
}
