package server

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type startExecutionInput struct {
	StateMachineArn string  `json:"stateMachineArn"`
	Name            *string `json:"name"`
	Input           *string `json:"input"`
	TraceHeader     string  `json:"traceHeader"`
}

type startExecutionOutput struct {
	ExecutionArn string `json:"executionArn"`
	StartDate    epoch  `json:"startDate"`
}

func startExecution(r *request, in *startExecutionInput) (*startExecutionOutput, error) {
	x, err := r.start(in, false, nil)
	if err != nil {
		return nil, err
	}
	return &startExecutionOutput{x.arn, epoch(x.run.Start())}, nil
}

// StartInfo says which execution is about to start.
type StartInfo struct {
	Machine          *asl.StateMachine
	StateMachineName string
	StateMachineARN  string
	ExecutionName    string
	TestCase         string // what stands behind a "#" at the end of the ARN in the request
	Account, Region  string
	Express          bool
}

// start starts an execution, and returns it once its start is recorded, or the
// running one of the same name and input. whenEnded, if not nil, is called at its end.
func (r *request) start(in *startExecutionInput, sync bool, whenEnded func()) (known, error) {
	input, err := readExecutionInput(in.Input)
	if err != nil {
		return known{}, err
	}
	x, info, err := r.newExecution(in, sync)
	if err != nil {
		return known{}, err
	}
	if whenEnded != nil {
		x.whenEnded = append(x.whenEnded, whenEnded)
	}
	for {
		other, err := r.account.reserve(x, r.server.mostOpen)
		if err == nil && other == nil {
			break
		}
		var same known
		if err == nil {
			same, err = r.sameStart(other, input)
		}
		if err != nil {
			return known{}, err
		}
		if same.execution != nil {
			r.account.await(other, whenEnded)
			return same, nil
		}
	}
	run, err := r.server.run(r.account, x, info, input, sync)
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	close(x.starting)
	x.starting = nil
	if err != nil {
		a.drop(x)
		a.count(x.machine, -1)
		return known{}, err
	}
	return known{x, run}, nil
}

// newExecution makes the execution that a request starts.
func (r *request) newExecution(in *startExecutionInput, sync bool) (*execution, *StartInfo, error) {
	machineARN, testCase, isTest := strings.Cut(in.StateMachineArn, "#")
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.resolve(machineARN)
	if err != nil {
		return nil, nil, err
	}
	m := t.machine
	switch {
	case isTest && r.server.prepare == nil:
		return nil, nil, refuseMissing(in.StateMachineArn)
	case t.label != "":
		return nil, nil, refuseLabel()
	case m.deleting:
		return nil, nil, refuseDeleting(m)
	}
	express := m.kind == asl.Express
	if sync && !express {
		return nil, nil, refuse("StateMachineTypeNotSupported", typeNotSupported)
	}
	x := &execution{machine: m, revision: t.revision, depth: r.depth, starting: make(chan struct{})}
	if in.Name == nil {
		x.name = newUUID()
	} else if x.name = *in.Name; checkName(x.name) != nil {
		return nil, nil, checkName(x.name)
	}
	if x.arn = r.arn(executionKind, m.name+":"+x.name); express {
		x.arn = r.arn(expressKind, m.name+":"+x.name+":"+newUUID())
	}
	x.extra = extraOf(t, machineARN, in.TraceHeader)
	return x, &StartInfo{
		Machine: t.revision.parsed, StateMachineName: m.name, StateMachineARN: m.arn, ExecutionName: x.name, TestCase: testCase,
		Account: r.accountID, Region: r.region, Express: express,
	}, nil
}

const typeNotSupported = "This operation is not supported by this type of state machine"

// sameStart returns the execution that has the name if it runs with the same input, or
// none if the name is free after all.
func (r *request) sameStart(other *execution, input []byte) (known, error) {
	a := r.account
	a.mu.Lock()
	starting := other.starting
	a.mu.Unlock()
	if starting != nil {
		select {
		case <-starting:
		case <-r.ctx.Done():
			return known{}, r.ctx.Err()
		}
	}
	k, ok := other.findRun()
	if !ok {
		return known{}, nil
	}
	s := k.run.Snapshot()
	if s.Status != sim.StatusRunning && r.now().Sub(s.Stop) > nameLife && r.server.forget(a, other) {
		return known{}, nil // it is too long ago
	}
	if s.Status != sim.StatusRunning || !sameJSON(s.Input, input) {
		return known{}, refuse("ExecutionAlreadyExists", "Execution Already Exists: '%s'", other.arn)
	}
	return k, nil
}

// run starts the execution in the world.
func (s *Server) run(a *account, x *execution, info *StartInfo, input []byte, sync bool) (*sim.Execution, error) {
	o := sim.Options{
		Execution: x.name, StateMachine: info.StateMachineName, Account: info.Account, Region: info.Region, Role: x.revision.role,
		Express: info.Express, Sync: sync, ARN: x.arn, Seed: x.number, Models: s.models, Lenient: true, KeepEvents: s.keepEvents,
		OnStanding: func(run *sim.Execution, now sim.Standing) { a.follow(x, run, now) },
	}
	if s.journal != nil {
		o.Note = noteOf(x, info)
	}
	if x.extra != nil {
		o.VersionARN, o.AliasARN = x.extra.versionARN, x.extra.aliasARN
	}
	if err := s.equip(x, info, &o); err != nil {
		return nil, refuse(validation, "%s", err)
	}
	run, err := s.world.Start(info.Machine, input, o)
	if _, wrong := errors.AsType[diag.Problems](err); wrong {
		return nil, refuse(validation, "the execution cannot start: %s", err)
	}
	return run, err
}

// equip gives an execution its handlers.
func (s *Server) equip(x *execution, info *StartInfo, o *sim.Options) error {
	if s.prepare != nil {
		if err := s.prepare(*info, o); err != nil {
			return err
		}
	}
	s.addNested(x.revision, o)
	s.next.wrap(o)
	return nil
}

// readExecutionInput checks the input of an execution. Without one it is an empty
// object.
func readExecutionInput(given *string) ([]byte, error) {
	const code, format = "InvalidExecutionInput", "Invalid State Machine Execution Input: '%s'"
	if given == nil {
		return []byte("{}"), nil
	}
	text := []byte(*given)
	if len(text) > asl.MaxPayloadBytes {
		return nil, refuse(code, format, "Input is too large: it has "+strconv.Itoa(len(text))+" bytes, at most "+strconv.Itoa(asl.MaxPayloadBytes)+" are allowed")
	}
	if _, err := jsontree.Parse(text); err != nil {
		return nil, refuse(code, format, cmp.Or(findJSONMistake(text).message, anyOldInput))
	}
	return text, nil
}

// sameJSON tells whether two texts are the same JSON value.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := jsontree.Parse(a)
	y, errY := jsontree.Parse(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.Root.Value(), y.Root.Value())
}
