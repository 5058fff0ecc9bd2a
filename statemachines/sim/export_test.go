package sim

// LimitBudget lets runs with the options have no more steps and bytes than these.
func (o *Options) LimitBudget(steps, bytes int64) { o.budget = budget{steps: steps, bytes: bytes} }

// WholeBudgetBytes is how many bytes of payloads a run may have.
var WholeBudgetBytes = wholeBudget.bytes
