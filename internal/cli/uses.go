package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// uses tells where an entry can be used: as the job of a request, if the
// catalogue is the one that the Lambda functions have, by "jobpoller compile" and
// by "jobpoller wait".
func uses(e *catalog.Entry, builtIn bool) []string {
	var all []string
	if builtIn {
		all = append(all, asJob(e)...)
	}
	all = append(all, asStateMachine(e, builtIn))
	name := fmt.Sprintf("jobpoller wait %s %s", e.Service.Key, e.Name)
	if s3Calls[operationKey(e.Operation)] != nil {
		return append(all, name)
	}
	if err := awsjob.New(anyRegion).Check(e.Operation); err != nil {
		return append(all, "in Go: "+inGo(e), name+": no: "+lackOf(e, err))
	}
	return append(all, name)
}

// anyRegion is for questions about operations to which the region is nothing.
var anyRegion = aws.Config{Region: "us-east-1"}

// asStateMachine tells which strategies "jobpoller compile" has for the entry: as it
// is, with patterns of causes, and with arguments.
func asStateMachine(e *catalog.Entry, builtIn bool) string {
	var taken, withCauses, failing, withArguments []string
	var why error
	for _, s := range compile.Strategies() {
		if s.UsesFunctions() && !builtIn {
			continue
		}
		// The time is nothing to what a strategy can say.
		o := compile.Options{Strategy: s, MaxWait: 24 * time.Hour, Fit: true}
		_, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
		o.UnmodeledFails = true
		_, lax := compile.Compile(e.Waiter, compile.CallOf(e), o)
		refused, lossy := errors.AsType[*compile.NotCompiledError](err)
		switch {
		case err == nil:
			taken = append(taken, string(s))
		case lossy && len(refused.Reasons) == 1 && refused.Unmodeled != nil:
			withCauses = append(withCauses, string(s))
		case lax == nil:
			failing = append(failing, string(s))
		case lossy && len(refused.Reasons) == 1 && refused.Optional != nil:
			withArguments = append(withArguments, string(s))
		case s == compile.Variables: // which says the most
			why = err
		}
	}
	var said []string
	if taken != nil {
		said = append(said, strings.Join(taken, ", "))
	}
	if withCauses != nil {
		said = append(said, strings.Join(withCauses, ", ")+" with --cause or --unmodeled fail")
	}
	if failing != nil {
		said = append(said, strings.Join(failing, ", ")+" with --unmodeled fail")
	}
	if withArguments != nil {
		said = append(said, strings.Join(withArguments, ", ")+" with --arguments")
	}
	if said == nil {
		said = []string{fmt.Sprintf("no: %v", why)}
	}
	return fmt.Sprintf("jobpoller compile %s %s: %s", e.Service.Key, e.Name, strings.Join(said, "; "))
}

// asJob tells whether requests can name the entry.
func asJob(e *catalog.Entry) []string {
	var all []string
	if e.Job != nil {
		all = append(all, asRequest(e, e.FullName(), "starts and polls it"))
	}
	return append(all, asRequest(e, e.Service.Key+":"+e.Waiter.Name, "polls what somebody else starts"))
}

// asRequest tells whether requests can name a job.
func asRequest(e *catalog.Entry, name, does string) string {
	if _, err := awsjob.NewDriver(anyRegion, catalog.AWS, name); err != nil {
		return fmt.Sprintf("job %q of a request: no: %s", name, lackOf(e, err))
	}
	return fmt.Sprintf("job %q of a request: %s", name, does)
}

// protocolNames are what AWS calls the protocols that nothing here speaks.
var protocolNames = map[catalog.Protocol]string{
	"ec2": "the EC2 query protocol", "query": "the AWS query protocol", "rest-xml": "restXml", "smithy-rpc-v2-cbor": "rpcv2Cbor",
}

// lackOf is what an operation lacks that awsjob cannot call.
func lackOf(e *catalog.Entry, err error) string {
	unsupported, ok := errors.AsType[*awsjob.UnsupportedError](err)
	if !ok {
		return err.Error()
	}
	if len(unsupported.Protocols) == 0 {
		return unsupported.Lack
	}
	spoken := protocolNames[unsupported.Protocols[0]]
	if spoken == "" {
		spoken = string(unsupported.Protocols[0])
	}
	return fmt.Sprintf("%s speaks %s, and awsjob speaks only JSON", e.Service.Name, spoken)
}

// inGo is how a program waits for what this command cannot call.
func inGo(e *catalog.Entry) string {
	return fmt.Sprintf("pollcore.Wait with the waiter of catalog.Lookup(%q, %q) and pollcore.Call(client.%s) of the SDK's client",
		e.Service.Key, e.Name, e.Operation.Name)
}

// cliWaiter is the command of the AWS CLI for a waiter. It is empty for a job,
// and for a waiter that botocore, whose total wait it would be, does not have.
func cliWaiter(e *catalog.Entry) string {
	if e.Kind != catalog.AWSWaiter || e.TotalWait == 0 {
		return ""
	}
	return fmt.Sprintf("aws %s wait %s", e.Service.Key, kebab(e.Waiter.Name))
}

var (
	beforeWord = regexp.MustCompile(`(.)([A-Z][a-z]+)`)
	afterWord  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// kebab spells a name as the AWS CLI does: DBInstanceAvailable is
// db-instance-available.
func kebab(name string) string {
	return strings.ToLower(afterWord.ReplaceAllString(beforeWord.ReplaceAllString(name, "$1-$2"), "$1-$2"))
}

// operationKey names an operation in the tables of this command.
func operationKey(op *catalog.Operation) string { return op.Service.Key + ":" + op.Name }
