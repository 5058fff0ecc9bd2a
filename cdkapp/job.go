package cdkapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// Job is what a poller waits for: what one of the functions JobFrom… returns.
type Job interface {
	bind() (*bound, error)
}

// bound is a job that has been looked up: a waiter and its call, to be compiled,
// or else a definition.
type bound struct {
	name   string // for a person
	waiter *pollcore.Waiter
	call   compile.Call
	driven bool // by a driver of the user's own

	definition string
	isShipped  bool
	shipped    *compile.Compiled // of a shipped definition that is compiled
	statements []awsiam.PolicyStatement
}

// JobFromCatalog is a job of the catalogue, such as "glue:StartJobRun", or a waiter,
// such as "dynamodb:ExportCompleted". The state machine starts a job, and stops it
// when its time is over, if it can be stopped. A waiter waits for what somebody else
// has started. `jobpoller list` has the names.
func JobFromCatalog(name *string) Job { return &catalogJob{text(name)} }

// JobFromWaiter is a waiter of your own, over an operation of any service, such as
// "dynamodb:DescribeExport". If the catalogue has no waiter or job that calls the
// operation, the role may call the IAM action of the operation's name, which a few
// services name otherwise.
func JobFromWaiter(operation *string, waiter *pollcore.Waiter) Job {
	service, name, _ := strings.Cut(text(operation), ":")
	return &ownJob{service, name, waiter}
}

// JobFromDefinition is a definition as `jobpoller compile` prints it, or one
// written by hand, with what the role of its state machine needs. The placeholders
// ${RunJobFunction} and ${CheckStatusFunction} stand for the two Lambda functions.
func JobFromDefinition(definition *string, statements ...awsiam.PolicyStatement) Job {
	return &definedJob{text(definition), statements}
}

// JobFromShipped is a definition that jobpoller ships, such as
// "dynamodb-export-variables" (docs/reference/shipped.md).
func JobFromShipped(name *string) Job { return &shippedJob{text(name)} }

// text is what a string prop says; "" if it is not given.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type catalogJob struct{ name string }

func (j *catalogJob) bind() (*bound, error) {
	named, err := catalog.AWS().Resolve(j.name)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, fmt.Errorf(`%w; "jobpoller list" has all names`, err)
	} else if err != nil {
		return nil, err
	}
	e := *named.Entry
	if !named.Starts { // the waiter of a job is polled alone
		e.Name, e.Job = e.Waiter.Name, nil
	}
	return &bound{name: named.FullName, waiter: e.Waiter, call: compile.CallOf(&e)}, nil
}

type ownJob struct {
	service, operation string
	waiter             *pollcore.Waiter
}

func (j *ownJob) bind() (*bound, error) {
	operation, err := models.Operation(j.service, j.operation)
	if err != nil {
		return nil, err
	}
	key := operation.Service.Key
	if j.waiter == nil {
		return nil, fmt.Errorf("the waiter for %s of %s is nil", j.operation, key)
	}
	return &bound{name: key + ":" + j.operation, waiter: j.waiter, call: compile.Call{Operation: operation}}, nil
}

type definedJob struct {
	definition string
	statements []awsiam.PolicyStatement
}

func (j *definedJob) bind() (*bound, error) {
	return &bound{name: "definition", definition: j.definition, statements: j.statements}, nil
}

type shippedJob struct{ name string }

func (j *shippedJob) bind() (*bound, error) {
	definition, err := statemachines.Definition(j.name)
	if err != nil {
		return nil, err
	}
	b := &bound{name: j.name, definition: string(definition), isShipped: true}
	if slices.Contains(compile.RecipeNames(), j.name) {
		b.shipped, err = compile.Recipe(j.name)
	}
	return b, err
}
