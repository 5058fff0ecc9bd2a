package fix

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// errorsOfStart are the errors of the start that a ".sync" Task, an optimized integration, names
// otherwise than the AWS SDK integration whose place it takes.
func (f *fragment) errorsOfStart() []Change {
	if f.starter == nil || !f.starter.sdk {
		return nil
	}
	does := "fails"
	if catchesAll(f.starter.Catch) {
		does = "is caught as"
	}
	resource, _ := f.states[f.starter.Name]["Resource"].(string)
	var all []Change
	add := func(code string, status int) {
		answer := mock.Answer{Code: code, Message: "refused", Status: status}
		before := mock.ServiceFailure(f.starter.Task.Resource, f.starter.operation, answer)
		after := mock.ServiceFailure(resource, f.starter.operation, answer)
		known := slices.ContainsFunc(all, func(c Change) bool { return c.Kind.Value == before.Name })
		if before.Name != after.Name && !known {
			all = append(all, Change{
				Kind:   trial.Kind{Task: f.starter.Name, Sort: trial.Fails, Value: before.Name},
				Before: does + " " + before.Name, After: does + " " + after.Name,
			})
		}
	}
	for _, e := range f.starter.operation.Errors {
		add(cmp.Or(e.Code, e.Shape), e.Status)
	}
	add("InternalFailure", http.StatusInternalServerError)
	return all
}

// catchesAll tells whether a catcher takes all errors of a call.
func catchesAll(all []asl.Catcher) bool {
	return slices.ContainsFunc(all, func(c asl.Catcher) bool {
		return slices.Contains(c.ErrorEquals, asl.ErrorAll) || slices.Contains(c.ErrorEquals, asl.ErrorTaskFailed)
	})
}
