package cdkapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// Driver is a driver of your own, as a stack needs it: each jobs.Driver of lambdas/jobs is
// one. No other method is called, so that it needs no client of its service.
type Driver interface {
	// Name is the job's, such as "shop:Report".
	Name() string
	Waiter() *pollcore.Waiter
	Permissions() []access.Permission
}

// EventSource is a [Driver] whose service tells Amazon EventBridge when a job has ended.
type EventSource interface {
	// EventPattern finds these events, as a rule of EventBridge has it.
	EventPattern() map[string]any
}

// JobFromDriver is a job of your own driver, which functions start, check and stop:
// Functions with its driver are required, and Signal EVENTS or a strategy that uses
// functions. They stop a job whose time is over if the driver can.
func JobFromDriver(driver Driver) Job { return &drivenJob{driver} }

type drivenJob struct{ driver Driver }

func (j *drivenJob) bind() (*bound, error) {
	if j.driver == nil {
		return nil, fmt.Errorf("the driver is nil")
	}
	service, name, ok := strings.Cut(j.driver.Name(), ":")
	if !ok || j.driver.Waiter() == nil {
		return nil, fmt.Errorf("the driver of %q needs a waiter, and a name with a colon such as %q", j.driver.Name(), "shop:Report")
	}
	// Nothing is known of its calls, which only the functions make.
	anything := &catalog.Shape{Name: string(catalog.Document), Type: catalog.Document}
	start := &catalog.Operation{
		Name: name, Input: anything, Output: anything, Service: &catalog.Service{Key: service, Name: service, ARNName: service},
	}
	return &bound{
		name: j.driver.Name(), waiter: j.driver.Waiter(), driven: true,
		call: compile.Call{Operation: start, Start: &compile.Start{Operation: start}, Job: j.driver.Name()},
	}, nil
}

// driver returns the user's driver of a job; nil if the user has none.
func (f *functions) driver(job string) Driver {
	for _, d := range orElse(f.props.Drivers, nil) {
		if d.Name() == job {
			return d
		}
	}
	return nil
}

// drivenPermissions returns the permissions that a driver of the user asks for.
func drivenPermissions(d Driver) permissions {
	var needed permissions
	for _, p := range d.Permissions() {
		arns, _ := (*catalog.Job)(nil).On(p.Resource, nil)
		of := needed.of(p.For)
		for _, arn := range arns {
			if next := (permission{p.Action, arn, strings.Join(p.PassedTo, ",")}); !slices.Contains(*of, next) {
				*of = append(*of, next)
			}
		}
	}
	return needed
}
