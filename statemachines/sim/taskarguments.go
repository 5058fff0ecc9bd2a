package sim

import (
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/taskapi"
)

// checkArguments refuses to start a Task with arguments that its integration
// does not take, as AWS does: before the Task is scheduled, and out of reach of
// Retry and Catch. AWS runs no integration without the field, so there is nothing
// to say of the input in its place.
func (s *strand) checkArguments(field string, template *asl.Template, arguments *Payload) *failure {
	if template == nil {
		return nil
	}
	api, err := s.x.run.api(s.state.Task)
	if err != nil {
		s.x.run.fail(err)
		return nil
	}
	problems := api.CheckArguments(arguments.Value())
	if len(problems) == 0 {
		return nil
	}
	return s.runtimeFailure("The %s '%s' could not be used to start the Task: [%s]", field, arguments.JSON(), strings.Join(problems, ", "))
}

// api is the API of a Task, which is looked up once in a run.
func (r *run) api(t *asl.Task) (*taskapi.API, error) {
	if known := r.apis[t.Resource]; known != nil {
		return known, nil
	}
	api, err := taskapi.Of(t.Resource, r.options.Models)
	if err != nil {
		return nil, err
	}
	if r.apis == nil {
		r.apis = map[string]*taskapi.API{}
	}
	r.apis[t.Resource] = &api
	return &api, nil
}
