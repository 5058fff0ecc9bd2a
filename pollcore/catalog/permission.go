package catalog

import "github.com/jobpoller/jobpoller/pollcore/access"

// Permissions returns what the calls need: of a job that is started those of its
// precondition, its start, describe and stop calls, and of the call that describes many
// such jobs, else that of the describe call. One is optional where most calls do without
// ([Job.On]).
func (n *Named) Permissions() []access.Permission {
	var all []access.Permission
	need := func(purpose access.Purpose, op *Operation) {
		for _, action := range op.Actions {
			for _, resource := range op.On() {
				all = append(all, access.Permission{Action: action, Resource: resource, For: purpose})
			}
		}
	}
	if !n.Starts {
		need(access.ForDescribe, n.Operation)
		return all
	}
	operations := n.Service.Operations
	if n.Job.Precondition != nil {
		need(access.ForStart, operations[n.Job.Precondition.Operation])
	}
	need(access.ForStart, operations[n.Name])
	for _, d := range n.Job.Dependent {
		all = append(all, access.Permission{
			Action: d.Action, Resource: d.Resource, For: access.ForStart, Dependent: true, Optional: n.Job.isOptional(d.Resource), PassedTo: d.PassedTo,
		})
	}
	if n.Job.NaturalKey != nil {
		need(access.ForFind, n.Operation)
	}
	need(access.ForDescribe, n.Operation)
	if batch := n.Job.Batch; batch != nil {
		need(access.ForBatch, operations[batch.Operation])
	}
	if stop := n.Job.Stop; stop != nil {
		need(access.ForStop, operations[stop.Operation])
		if !stop.TakesEnded { // a refusal may mean that the job has ended
			need(access.ForStop, n.Operation)
		}
	}
	return all
}
