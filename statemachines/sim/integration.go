package sim

import (
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// integration is how the history names a Task's resource. A service
// integration ("arn:aws:states:::lambda:invoke") has Task events, an activity
// Activity events; any other ARN is a Lambda function's, which has
// LambdaFunction events.
type integration struct {
	service                bool
	submits                bool // the request is answered before the Task ends
	token                  bool // the answer comes back with a token
	resourceType, resource string
	scheduled, started     EventType
	succeeded, failed      EventType
	timedOut               EventType
}

func newIntegration(arn string) integration {
	const servicePart = 5
	parts := strings.Split(arn, ":")
	service := len(parts) > servicePart+1 && parts[2] == "states"
	switch r := asl.ParseResource(arn); {
	case service && r.Direct:
		return integration{
			resource: arn, token: true, scheduled: ActivityScheduled, started: ActivityStarted,
			succeeded: ActivitySucceeded, failed: ActivityFailed, timedOut: ActivityTimedOut,
		}
	case !service:
		return integration{
			resource: arn, scheduled: LambdaFunctionScheduled, started: LambdaFunctionStarted,
			succeeded: LambdaFunctionSucceeded, failed: LambdaFunctionFailed, timedOut: LambdaFunctionTimedOut,
		}
	default:
		last := servicePart + strings.Count(r.Service, ":") + 1
		return integration{
			service: true, submits: r.Pattern != "", token: r.WaitsForToken(),
			resourceType: strings.Join(parts[servicePart:last], ":"), resource: strings.Join(parts[last:], ":"),
			scheduled: TaskScheduled, started: TaskStarted, succeeded: TaskSucceeded, failed: TaskFailed, timedOut: TaskTimedOut,
		}
	}
}

// integrationOf is the integration of a resource, which is read once.
func (m *machineData) integrationOf(arn string) *integration {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.integrations[arn]
	if known == nil {
		i := newIntegration(arn)
		known = &i
		m.integrations[arn] = known
	}
	return known
}

// activity tells whether the resource is an activity.
func (i *integration) activity() bool { return i.scheduled == ActivityScheduled }

// details are the members that all events of the call have, besides those
// given.
func (i *integration) details(d Details) Details {
	if i.service {
		d.ResourceType, d.Resource = i.resourceType, i.resource
	}
	return d
}

// name is what AWS calls the task in the cause of a result that is too large.
func (i *integration) name() string {
	if i.service {
		return i.resourceType
	}
	return i.resource
}

// checkArguments refuses to start a Task with arguments that its integration
// does not take, as AWS does: before the Task is scheduled, and out of reach of
// Retry and Catch. AWS runs no integration without the field, so there is nothing
// to say of the input in its place.
func (s *strand) checkArguments(arguments *Payload) *failure {
	field, template := s.arguments()
	if template == nil {
		return nil
	}
	var problems, missing []string
	err := s.x.run.shared.ask(s.state.Task, s.x.run.options.Models, func(api *typecheck.API) {
		if problems = api.CheckArguments(arguments.Value()); len(problems) == 0 && s.isStrict() {
			missing = api.RequireArguments(s.state.Task.Resource, arguments.Value())
		}
	})
	if err != nil {
		s.x.run.fail(err)
		return nil
	}
	if len(problems) > 0 {
		return s.runtimeFailure("The %s '%s' could not be used to start the Task: [%s]", field, arguments.JSON(), strings.Join(problems, ", "))
	}
	if misfit := s.misfit("arguments", missing); misfit != nil {
		s.x.run.fail(misfit)
	}
	return nil
}

// isStrict tells whether the run ends where AWS's services would refuse a call, or
// never answer so. The test of a state is as AWS has it.
func (s *strand) isStrict() bool { return !s.x.run.options.Lenient && s.probe == nil }

// checkResult ends the run if the service never gives the result.
func (s *strand) checkResult(result *Payload) {
	if !s.isStrict() {
		return
	}
	var problems []string
	err := s.x.run.shared.ask(s.state.Task, s.x.run.options.Models, func(api *typecheck.API) { problems = api.CheckAnswer(result.Value()) })
	if err != nil {
		s.x.run.fail(err)
		return
	}
	pass := s.x.run.options.OnMisfit
	if misfit := s.misfit("result", problems); misfit != nil && (pass == nil || !pass(misfit)) {
		s.x.run.fail(misfit)
	}
}

// misfit is what of a call does not fit the model of its service; nil if all fits.
func (s *strand) misfit(what string, problems []string) *ModelError {
	if len(problems) == 0 {
		return nil
	}
	return &ModelError{State: s.state.Name, Resource: s.state.Task.Resource, What: what, Problems: problems}
}
