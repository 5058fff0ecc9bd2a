package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Journal keeps what the server and its World are told, so that Open can make the same
// server of it. Package journal has one in a file.
type Journal interface {
	sim.Journal
	// Records calls yield with each record, in their order, until it returns an error.
	Records(yield func(line int, record []byte) error) error
}

// operationRecord is a request that changes what the server itself keeps. The World keeps
// what changes executions.
type operationRecord struct {
	Kind      string          `json:"k"`
	At        time.Time       `json:"at"`
	Operation string          `json:"op,omitempty"`
	Account   string          `json:"account,omitempty"`
	Region    string          `json:"region,omitempty"`
	Input     json.RawMessage `json:"in,omitempty"`
	IDs       []string        `json:"ids,omitempty"` // that were made up
}

const operationKind = "op"

// keep keeps the request in the journal. An operation calls it when nothing can be refused
// any more, and changes nothing before. Its caller holds the account's lock.
func (r *request) keep() error {
	s := r.server
	if s.journal == nil || r.replayed {
		return nil
	}
	r.at = s.clock.Now()
	input := r.input
	if len(input) == 0 {
		input = []byte("{}")
	}
	text, err := json.Marshal(operationRecord{
		Kind: operationKind, At: r.at.UTC().Round(0), Operation: r.operation, Account: r.accountID, Region: r.region, Input: input, IDs: r.ids,
	})
	if err != nil {
		return err
	}
	return s.journal.Append(text)
}

// keptJournal is the journal of a server, which takes no changes once a record cannot be
// written.
type keptJournal struct {
	Journal

	server *Server
}

// Append implements sim.Journal.
func (j *keptJournal) Append(record []byte) error {
	w := j.server.world
	if err := w.Err(); err != nil {
		return err
	}
	err := j.Journal.Append(record)
	if err != nil {
		w.Halt(err)
		j.server.log.Error("the server takes no changes any more, and executions stand still", "error", err)
	}
	return err
}

// newUUID makes up an id, or returns the one that was made up when the request is
// replayed.
func (r *request) newUUID() string {
	if r.replayed {
		if len(r.ids) == 0 {
			return newUUID()
		}
		id := r.ids[0]
		r.ids = r.ids[1:]
		return id
	}
	id := newUUID()
	r.ids = append(r.ids, id)
	return id
}

// startNote is what the server adds to the start of an execution in the journal.
type startNote struct {
	Number      uint64    `json:"number"`
	Created     time.Time `json:"created"` // the state machine
	Revision    string    `json:"revision,omitempty"`
	TestCase    string    `json:"case,omitempty"`
	TraceHeader string    `json:"trace,omitempty"`
	Depth       int       `json:"depth,omitempty"`
}

func noteOf(x *execution, info *StartInfo) []byte {
	note := startNote{Number: x.number, Created: x.machine.created.UTC().Round(0), Revision: x.revision.id, TestCase: info.TestCase, Depth: x.depth}
	if x.extra != nil {
		note.TraceHeader = x.extra.traceHeader
	}
	text, err := json.Marshal(note)
	if err != nil {
		panic(err) // it is text and a time
	}
	return text
}

// Open returns a server that goes on where the journal of the options ends. Calls of Tasks
// without a reply are made again. Its error says which record does not fit.
func Open(o Options) (*Server, error) {
	if j, ok := o.Journal.(rewriter); ok {
		if err := compact(j); err != nil {
			return nil, err
		}
	}
	s := New(o)
	p := &replay{server: s, revisions: map[revisionKey]*target{}}
	if err := o.Journal.Records(p.record); err != nil {
		s.Close()
		return nil, err
	}
	if err := p.finish(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// rewriter is a journal that can drop records.
type rewriter interface {
	Journal
	// Rewrite keeps only some records, and adds one.
	Rewrite(keep func(record []byte) bool, last []byte) error
}

// compact drops the records of executions that the World has forgotten, where these are
// most of the journal. Nothing else reads them: an execution is made again from its own
// records alone.
func compact(j rewriter) error {
	type record struct {
		Kind string    `json:"k"`
		Run  int64     `json:"r"`
		At   time.Time `json:"at"`
	}
	read := func(text []byte) (rec record) {
		_ = json.Unmarshal(text, &rec) // replay says what is wrong
		return rec
	}
	var last time.Time
	records, forgotten := map[int64]int{}, map[int64]bool{}
	all, dropped := 0, 0
	err := j.Records(func(_ int, text []byte) error {
		rec := read(text)
		all++
		records[rec.Run]++
		if rec.Kind == "forget" {
			forgotten[rec.Run] = true
		}
		if rec.At.After(last) {
			last = rec.At
		}
		return nil
	})
	if err != nil {
		return err
	}
	for run := range forgotten {
		dropped += records[run]
	}
	if dropped*2 <= all {
		return nil
	}
	clock, err := clockRecord(last)
	if err != nil {
		return err
	}
	return j.Rewrite(func(text []byte) bool { return !forgotten[read(text).Run] }, clock)
}

// replay makes the state of a server from its journal.
type replay struct {
	server    *Server
	revisions map[revisionKey]*target // all that there were
	last      time.Time               // of the operations
}

type revisionKey struct {
	machineARN string
	created    int64
	id         string
}

func (p *replay) record(_ int, text []byte) error {
	var rec operationRecord
	if err := json.Unmarshal(text, &rec); err != nil {
		return err
	}
	if rec.Kind == operationKind {
		return p.operation(&rec)
	}
	return p.server.world.Replay(text, p.restore)
}

// operation does a request again that was answered.
func (p *replay) operation(rec *operationRecord) error {
	s := p.server
	r, members, err := s.newRequest(context.Background(), caller{rec.Account, rec.Region}, rec.Operation, rec.Input)
	if err == nil {
		r.at, r.ids, r.replayed = rec.At, rec.IDs, true
		_, err = s.operations[rec.Operation].do(r, members)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", rec.Operation, err)
	}
	if rec.At.After(p.last) {
		p.last = rec.At
	}
	if m := r.revised; m != nil {
		p.revisions[revisionKey{m.arn, m.created.UnixNano(), m.current.id}] = &target{machine: m, revision: m.current}
	}
	return nil
}

// restore makes an execution known that was started.
func (p *replay) restore(o *sim.Options) (*asl.StateMachine, error) {
	s := p.server
	var note startNote
	if err := json.Unmarshal(o.Note, &note); err != nil {
		return nil, err
	}
	a, err := s.accountOf(caller{o.Account, o.Region})
	if err != nil {
		return nil, err
	}
	machineARN := a.arn(machineKind, o.StateMachine)
	t := p.revisions[revisionKey{machineARN, note.Created.UnixNano(), note.Revision}]
	if t == nil {
		return nil, fmt.Errorf("the start of %s: there is no such revision of %s", o.ARN, machineARN)
	}
	x := &execution{name: o.Execution, arn: o.ARN, number: note.Number, machine: t.machine, revision: t.revision, depth: note.Depth}
	if o.VersionARN != "" || o.AliasARN != "" || note.TraceHeader != "" {
		x.extra = &startExtra{versionARN: o.VersionARN, aliasARN: o.AliasARN, traceHeader: note.TraceHeader}
	}
	o.OnStanding = func(run *sim.Execution, now sim.Standing) { a.follow(x, run, now) }
	a.mu.Lock()
	if earlier := a.executions.byARN[x.arn]; earlier != nil { // it was forgotten
		a.drop(earlier)
	}
	a.executions.add(x)
	a.mu.Unlock()
	info := &StartInfo{
		Machine: t.revision.parsed, StateMachineName: t.machine.name, StateMachineARN: t.machine.arn, ExecutionName: x.name, TestCase: note.TestCase,
		Account: o.Account, Region: o.Region, Express: o.Express,
	}
	o.Models = s.models
	if err := s.equip(x, info, o); err != nil {
		s.log.Warn("an execution goes on without its mocks", "execution", x.arn, "error", err)
		o.Handler = func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, err }
	}
	return info.Machine, nil
}

// finish counts what runs, and lets the executions go on.
func (p *replay) finish() error {
	s := p.server
	clock, err := clockRecord(p.last)
	if err == nil {
		err = s.world.Replay(clock, nil)
	}
	if err != nil {
		return err
	}
	p.dropForgotten()
	for _, a := range s.allAccounts() {
		for _, x := range a.executions.byARN {
			if x.standing.Status == sim.StatusRunning {
				x.open++
				a.count(x.machine, 1)
			}
		}
	}
	forget := s.retireEnded()
	for _, a := range s.allAccounts() {
		for _, m := range a.machines {
			a.removeUnused(m)
		}
	}
	s.replays.Store(false)
	s.world.Resume()
	forget()
	return s.world.Err()
}

// clockRecord is what the World keeps of its clock.
func clockRecord(at time.Time) ([]byte, error) {
	return json.Marshal(map[string]any{"k": "clock", "at": at})
}

// dropForgotten drops the executions that the World has forgotten.
func (p *replay) dropForgotten() {
	s := p.server
	forgotten := func(x *execution) bool {
		run := x.run.Load()
		return run == nil || s.world.Execution(x.arn) != run
	}
	for _, a := range s.allAccounts() {
		for _, x := range a.executions.byARN {
			if forgotten(x) {
				a.drop(x)
			}
		}
	}
}

// resumeNested goes on with a Task that waits for the execution which it has started.
func (s *Server) resumeNested(ctx context.Context, call sim.Call, reply sim.Reply) {
	if !isNested(call.Resource) {
		return
	}
	n, err := s.newNested(call)
	if err != nil {
		call.Answer(sim.Reply{}, err)
		return
	}
	if n.resource.WaitsForToken() {
		return
	}
	submitted, _ := reply.Submitted.(map[string]any)
	executionARN, _ := submitted["ExecutionArn"].(string)
	if executionARN == "" { // a call that nobody but the caller knew of
		if reply, err := s.callItself(ctx, call); err != nil || !reply.Never {
			call.Answer(reply, err)
		}
		return
	}
	a, err := s.accountOf(n.who)
	if err != nil {
		call.Answer(sim.Reply{}, err)
		return
	}
	r := &request{caller: n.who, ctx: ctx, server: s, account: a, operation: n.operation.Name}
	a.mu.Lock()
	x, found := a.executions.byARN[executionARN].findRun()
	a.mu.Unlock()
	if !found {
		call.Answer(sim.Reply{}, errors.New("the execution "+executionARN+" is not known any more"))
		return
	}
	context.AfterFunc(ctx, func() { _, _ = x.run.Stop("", "") }) // of one that has ended nothing
	a.await(x.execution, func() { call.Answer(n.jobEnd(r.describe(x, true))) })
}
