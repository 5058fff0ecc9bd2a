package server

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type startSyncExecutionInput struct {
	StateMachineArn string  `json:"stateMachineArn"`
	Name            *string `json:"name"`
	Input           *string `json:"input"`
	TraceHeader     string  `json:"traceHeader"`
	IncludedData    string  `json:"includedData"`
}

type startSyncExecutionOutput struct {
	ExecutionArn    string          `json:"executionArn"`
	StateMachineArn string          `json:"stateMachineArn"`
	Name            string          `json:"name"`
	StartDate       epoch           `json:"startDate"`
	StopDate        epoch           `json:"stopDate"`
	Status          string          `json:"status"`
	Error           string          `json:"error,omitempty"`
	Cause           string          `json:"cause,omitempty"`
	Input           string          `json:"input,omitempty"`
	InputDetails    *included       `json:"inputDetails,omitempty"`
	Output          string          `json:"output,omitempty"`
	OutputDetails   *included       `json:"outputDetails,omitempty"`
	TraceHeader     string          `json:"traceHeader,omitempty"`
	BillingDetails  *billingDetails `json:"billingDetails"`
}

type billingDetails struct {
	Memory   int   `json:"billedMemoryUsedInMB"`
	Duration int64 `json:"billedDurationInMilliseconds"`
}

// startSyncExecution answers at the end of the execution, which goes on if the client
// does not wait for it.
func startSyncExecution(r *request, in *startSyncExecutionInput) (*startSyncExecutionOutput, error) {
	x, err := r.start(&startExecutionInput{in.StateMachineArn, in.Name, in.Input, in.TraceHeader}, true, nil)
	if err != nil {
		return nil, err
	}
	select {
	case <-x.run.Done():
		return r.syncOutput(x, in.IncludedData != metadataOnly), nil
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	case <-r.server.world.Done():
		return nil, r.server.world.Err()
	}
}

func (r *request) syncOutput(x known, withData bool) *startSyncExecutionOutput {
	s := x.run.Snapshot()
	out := &startSyncExecutionOutput{
		ExecutionArn: x.arn, StateMachineArn: x.machine.arn, Name: x.name, StartDate: epoch(s.Start), StopDate: epoch(s.Stop), Status: string(s.Status),
		InputDetails: &included{withData}, OutputDetails: &included{withData}, BillingDetails: bill(s),
	}
	if x.extra != nil {
		out.TraceHeader = x.extra.traceHeader
	}
	if withData {
		out.Error, out.Cause, out.Input, out.Output = s.Error, s.Cause, string(s.Input), string(s.Output)
	}
	return out
}

// bill returns what AWS bills for an Express execution: its duration in steps of a tenth of
// a second, and memory in steps of 64 MB. Here every execution takes one step.
func bill(s sim.Snapshot) *billingDetails {
	const memory, step = 64, 100 * time.Millisecond
	steps := max(1, int64((s.Stop.Sub(s.Start)+step-1)/step))
	return &billingDetails{memory, steps * step.Milliseconds()}
}
