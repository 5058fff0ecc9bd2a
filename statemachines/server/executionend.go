package server

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type stopExecutionInput struct {
	ExecutionArn string `json:"executionArn"`
	Error        string `json:"error"`
	Cause        string `json:"cause"`
}

type stopExecutionOutput struct {
	StopDate epoch `json:"stopDate"`
}

func stopExecution(r *request, in *stopExecutionInput) (*stopExecutionOutput, error) {
	k, err := r.findExecution(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	at, err := k.run.Stop(in.Error, in.Cause)
	if err != nil {
		return nil, err
	}
	return &stopExecutionOutput{epoch(at)}, nil
}

type redriveExecutionInput struct {
	ExecutionArn string `json:"executionArn"`
	ClientToken  string `json:"clientToken"`
}

type redriveExecutionOutput struct {
	RedriveDate epoch `json:"redriveDate"`
}

// redrive is a redrive that may be repeated with its token.
type redrive struct {
	token    string
	date     time.Time // on the server's clock
	accepted time.Time // of the machine: tokens are valid for a while of real time
}

const (
	redriveTokens    = 10
	redriveTokenLife = 15 * time.Minute
)

func redriveExecution(r *request, in *redriveExecutionInput) (*redriveExecutionOutput, error) {
	k, err := r.findExecution(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	a := r.account
	a.mu.Lock()
	i := slices.IndexFunc(k.redrives, func(d redrive) bool {
		return in.ClientToken != "" && d.token == in.ClientToken && time.Since(d.accepted) < redriveTokenLife
	})
	var repeated redrive
	if i >= 0 {
		repeated = k.redrives[i]
	}
	deleting := k.machine.deleting
	a.mu.Unlock()
	switch {
	case i >= 0:
		return &redriveExecutionOutput{epoch(repeated.date)}, nil
	case k.isChild():
		return nil, refuse("ExecutionNotRedrivable", "Execution Not Redrivable: '%s'", "Redrive the execution that started the Map Run")
	case deleting:
		return nil, refuse("ExecutionNotRedrivable", "Execution Not Redrivable: '%s'", machineIsDeleting)
	}
	goBack, err := a.restart(k.execution, r.server.mostOpen)
	if err != nil {
		return nil, err
	}
	date, err := k.run.Redrive()
	if err != nil {
		goBack()
		status, reason := r.redriveStatus(k, k.run.Snapshot())
		if status == sim.Redrivable && !errors.Is(err, sim.ErrRedriveRunning) || errors.Is(err, r.server.world.Err()) {
			return nil, err // it is the server that fails
		}
		return nil, refuse("ExecutionNotRedrivable", "Execution Not Redrivable: '%s'", cmp.Or(reason, err.Error()))
	}
	if in.ClientToken != "" {
		a.mu.Lock()
		k.redrives = append(k.redrives, redrive{in.ClientToken, date, time.Now()})
		k.redrives = k.redrives[max(0, len(k.redrives)-redriveTokens):]
		a.mu.Unlock()
	}
	return &redriveExecutionOutput{epoch(date)}, nil
}

const machineIsDeleting = "State machine is in DELETING status"

// redriveStatus tells whether the execution can be redriven, and why not.
func (r *request) redriveStatus(k known, s sim.Snapshot) (sim.RedriveStatus, string) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	if s.RedriveStatus == sim.Redrivable && k.machine.deleting {
		return sim.NotRedrivable, machineIsDeleting
	}
	return s.RedriveStatus, s.RedriveStatusReason
}
