package catalog

// Permission is an IAM action that the calls for an entry need.
type Permission struct {
	Action string
	// Resource is an ARN with placeholders such as ${Partition} and ${TableName},
	// or an asterisk where it is not known, or the action knows none.
	Resource string
	For      Purpose
	// Dependent is set where the service makes or checks the action on behalf of
	// the caller.
	Dependent bool
	// Optional is set where only calls with certain arguments need it ([Job.On]).
	Optional bool
	// PassedTo is that of the [Dependent].
	PassedTo []string
}

// Purpose is what a permission is needed for.
type Purpose string

// The purposes.
const (
	ForStart    Purpose = "Start"
	ForFind     Purpose = "Find" // a job by its natural key
	ForDescribe Purpose = "Describe"
	ForBatch    Purpose = "DescribeBatch" // many jobs in one call
	ForStop     Purpose = "Stop"
)

// Permissions returns what the calls need: of a job that is started those of its
// precondition, its start, describe and stop calls, and of the call that describes many
// such jobs, else that of the describe call.
func (n *Named) Permissions() []Permission {
	var all []Permission
	need := func(purpose Purpose, op *Operation) {
		for _, action := range op.Actions {
			for _, resource := range op.On() {
				all = append(all, Permission{Action: action, Resource: resource, For: purpose})
			}
		}
	}
	if !n.Starts {
		need(ForDescribe, n.Operation)
		return all
	}
	operations := n.Service.Operations
	if n.Job.Precondition != nil {
		need(ForStart, operations[n.Job.Precondition.Operation])
	}
	need(ForStart, operations[n.Name])
	for _, d := range n.Job.Dependent {
		all = append(all, Permission{
			Action: d.Action, Resource: d.Resource, For: ForStart, Dependent: true, Optional: n.Job.isOptional(d.Resource), PassedTo: d.PassedTo,
		})
	}
	if n.Job.NaturalKey != nil {
		need(ForFind, n.Operation)
	}
	need(ForDescribe, n.Operation)
	if batch := n.Job.Batch; batch != nil {
		need(ForBatch, operations[batch.Operation])
	}
	if stop := n.Job.Stop; stop != nil {
		need(ForStop, operations[stop.Operation])
		if !stop.TakesEnded { // a refusal may mean that the job has ended
			need(ForStop, n.Operation)
		}
	}
	return all
}
