package compile

import (
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Call is what a state machine calls: the operation that it polls and, before
// and after, those that start and stop the job.
type Call struct {
	// Operation is polled. With a Task it may be nil.
	Operation *catalog.Operation
	// Task polls instead of a Task that Compile makes of Operation, by the strategy Variables: the
	// fields of a Task of ASL in JSONata, Resource, Arguments, Credentials, TimeoutSeconds,
	// HeartbeatSeconds, Retry, Catch and Comment. It may call a function, an HTTP API or another
	// state machine. Its arguments are computed once, before the first poll. The waiter reads the
	// result as the call returns it, or by the model of the Operation if there is one, and names
	// errors as ASL does. Errors that pass by themselves are retried, too. A Catch needs
	// Options.Exits, and leads to states of the machine around.
	Task map[string]any
	// Arguments are those of the operation, with members as SDK integrations spell
	// them: in PascalCase, and DbInstanceIdentifier for DBInstanceIdentifier. Values may be expressions of the query language
	// of the strategy. Nil means the input of the poller, or what Start says.
	Arguments map[string]any
	// SelfFeeding tells that Arguments are paths that are in the output of the
	// operation as they are in the input of the poller, so that each call takes
	// them from the one before. It is for the strategy Loop.
	SelfFeeding bool
	// Start is called first; nil if the job has been started.
	Start *Start
	// Stop is called when the time is over; nil leaves the job alone.
	Stop *catalog.StopCall
	// Job is the driver of the job, for the strategies with Lambda functions.
	Job string
}

// Start is the call that starts a job.
type Start struct {
	Operation *catalog.Operation
	// Arguments are as in [Call]. Nil means the input of the poller.
	Arguments map[string]any
	// Token is the member that makes the call idempotent, in the model's
	// spelling: a UUID that is made once for all retries, unless the arguments
	// have one. It may be empty.
	Token string
	// Describe are the members of the polled operation's input, each a JMESPath
	// expression over {"input": …, "output": …} of this call, in the model's
	// spelling.
	Describe map[string]string
}

// CallOf returns the call of an entry of the catalogue. A job is started and,
// if it can be, stopped when its time is over.
func CallOf(e *catalog.Entry) Call {
	c := Call{Operation: e.Operation, Job: e.Service.Key + ":" + e.Name}
	if e.Job != nil {
		c.Start = &Start{Operation: e.Service.Operations[e.Name], Token: e.Job.Token, Describe: e.Job.Arguments}
		c.Stop = e.Job.Stop
	}
	return c
}

// stoppable tells whether the driver of the job may be able to stop it. Those of
// the catalogue can as it says.
func (c Call) stoppable() bool {
	service := c.Operation.Service
	name, ok := strings.CutPrefix(c.Job, service.Key+":")
	switch {
	case !ok:
		return true
	case service.Jobs[name] != nil:
		return service.Jobs[name].Stop != nil
	default:
		return false
	}
}
