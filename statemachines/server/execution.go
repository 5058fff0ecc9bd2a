package server

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/internal/ordered"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// execution is an execution that an account has started. The account's lock guards it.
type execution struct {
	// run is stored once: when the start is recorded, and before anybody is told of the
	// execution. It is nil until then. Anybody may load it, with the lock or without.
	run atomic.Pointer[sim.Execution]

	arn, name string
	machine   *machine
	revision  *revision
	number    uint64        // counts the starts of the account
	starting  chan struct{} // closed when the start has succeeded or failed; nil then
	whenEnded []func()      // called at the end, without the lock
	open      int           // starts and redrives whose ends are not counted: 0, it has ended
	depth     int           // executions that wait for its end, one for the other
	extra     *startExtra   // nil if there is none: most executions have none
	redrives  []redrive
	standing  sim.Standing // by which lists have it; zero: none has
	started   time.Time    // never changes once a list has it
	bytes     int64        // that it keeps; counted while it is among those that have ended
}

// startExtra is what few requests say of a start.
type startExtra struct{ versionARN, aliasARN, traceHeader string }

// extraOf is what is to be remembered of a start, or nil. startARN is the ARN in the request.
func extraOf(t *target, startARN, traceHeader string) *startExtra {
	if t.version == nil && traceHeader == "" {
		return nil
	}
	extra := &startExtra{traceHeader: traceHeader}
	if t.version != nil {
		extra.versionARN = t.machine.versionARN(t.version)
	}
	if t.alias != nil {
		extra.aliasARN = startARN
	}
	return extra
}

// executions are those that an account knows.
type executions struct {
	byARN  map[string]*execution
	starts uint64
	open   int
	ended  *ordered.List[*execution] // in the order of their ends
	bytes  int64                     // that those keep
}

// limits bound what an account keeps of the executions that have ended.
type limits struct {
	executions int
	bytes      int64
}

func newExecutions() executions {
	return executions{byARN: map[string]*execution{}, ended: newEnded()}
}

// add makes an execution known, which has its number.
func (e *executions) add(x *execution) {
	e.starts = max(e.starts, x.number)
	e.byARN[x.arn] = x
	if m := x.machine; m.kind == asl.Express {
		if m.named == nil {
			m.named = newNames()
		}
		m.named.Add(x)
	}
}

// retire counts an execution among those that have ended, and takes out what is to be
// forgotten so that the rest is within the limits: the oldest first, and never the one
// that ended last. Its caller holds mu.
func (a *account) retire(x *execution, keep limits) (oldest []*execution) {
	e := &a.executions
	e.ended.Add(x)
	e.bytes += x.bytes
	for e.ended.Len() > 1 && (e.ended.Len() > keep.executions || e.bytes > keep.bytes) {
		first, _ := e.ended.First()
		e.release(first)
		oldest = append(oldest, first)
	}
	return oldest
}

// release counts an execution no more among those that have ended.
func (e *executions) release(x *execution) {
	if e.ended.Remove(x) {
		e.bytes -= x.bytes
	}
}

// count counts executions of a state machine that have started or, if n is negative,
// ended. Its caller holds mu.
func (a *account) count(m *machine, n int) {
	m.running += n
	a.executions.open += n
	a.removeUnused(m)
}

// checkOpen refuses one more execution than the account may have open. Its caller holds
// mu.
func (a *account) checkOpen(most int) error {
	if a.executions.open < most {
		return nil
	}
	return refuse("ExecutionLimitExceeded", "The account has %d open executions, the most that there can be. Stop some, or wait for their ends.", most)
}

// restart counts an execution as one that runs. goBack counts it as before; it may have
// ended meanwhile.
func (a *account) restart(x *execution, most int) (goBack func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.checkOpen(most); err != nil {
		return nil, err
	}
	a.executions.release(x)
	x.open++
	a.count(x.machine, 1)
	return func() {
		for _, f := range a.endRestart(x) {
			f()
		}
	}, nil
}

// endRestart counts a restart that did not happen. It returns who waited for the end of an
// execution that has ended.
func (a *account) endRestart(x *execution) (waiting []func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(x.machine, -1)
	if x.open--; x.open > 0 {
		return nil
	}
	a.executions.ended.Add(x)
	a.executions.bytes += x.bytes
	waiting, x.whenEnded = x.whenEnded, nil
	return waiting
}

// reserve takes the name of an execution. If another has it, that is returned.
func (a *account) reserve(x *execution, most int) (other *execution, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if other = a.executions.byARN[x.arn]; other != nil {
		return other, nil
	}
	if err := a.checkOpen(most); err != nil {
		return nil, err
	}
	x.number = a.executions.starts + 1
	a.executions.add(x)
	x.open++
	a.count(x.machine, 1)
	return nil, nil //nolint:nilnil // no other has it
}

// nameLife is for how long the name of an execution that has ended stays taken.
const nameLife = 90 * 24 * time.Hour

// drop forgets an execution. Its caller holds mu.
func (a *account) drop(x *execution) {
	if a.executions.byARN[x.arn] != x {
		return
	}
	a.executions.release(x)
	a.list(x, sim.Standing{})
	delete(a.executions.byARN, x.arn)
	if x.machine.named != nil {
		x.machine.named.Remove(x)
	}
}

// known is an execution with what the account knows of it. A child execution of a Map
// Run is known by its parent.
type known struct {
	*execution

	run *sim.Execution
}

// findRun returns the execution with its run, once it has started; none for nil.
func (x *execution) findRun() (k known, ok bool) {
	if x == nil {
		return known{}, false
	}
	run := x.run.Load()
	return known{x, run}, run != nil
}

// findExecution returns the execution of an ARN.
func (r *request) findExecution(text string) (known, error) {
	parsed, err := parseARN(text, executionKind)
	if err != nil {
		return known{}, err
	}
	return r.find(text, parsed)
}

// findDescribed is findExecution, but takes the Express executions of Map Runs, too.
func (r *request) findDescribed(text string) (known, error) {
	parsed, err := parseARN(text, executionKind, expressKind)
	if err != nil {
		return known{}, err
	}
	k, err := r.find(text, parsed)
	if parsed.kind == expressKind && (err != nil || !k.isChild()) {
		return r.findExecution(text) // which says that it does not take it
	}
	return k, err
}

func (r *request) find(text string, parsed arn) (known, error) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if k, found := a.executions.byARN[text].findRun(); found {
		return k, nil
	}
	if child := r.server.world.Execution(text); child != nil && parsed.account == r.accountID && parsed.region == r.region {
		if k, found := a.findChild(child); found {
			return k, nil
		}
	}
	return known{}, refuse("ExecutionDoesNotExist", "Execution Does Not Exist: '%s'", text)
}

// findChild returns a child execution of a Map Run, unless its parent was forgotten.
func (a *account) findChild(child *sim.Execution) (known, bool) {
	parent := a.executions.byARN[child.Root().ARN()]
	return known{parent, child}, parent != nil && parent.run.Load() != nil
}

// handleEnd is told of the end of every execution.
func (s *Server) handleEnd(run *sim.Execution) {
	if s.replays.Load() {
		return // the replay counts at its end
	}
	parsed, err := parseARN(run.ARN(), executionKind, expressKind)
	if err != nil {
		return
	}
	a, err := s.accountOf(caller{parsed.account, parsed.region})
	if err != nil {
		return
	}
	waiting, oldest := a.countEnd(run.ARN(), run.Bytes(), s.keep)
	for _, tell := range waiting {
		tell()
	}
	for _, x := range oldest {
		s.forget(a, x)
	}
}

// forget forgets an execution that has ended, and tells whether it did. One that was
// redriven stays.
func (s *Server) forget(a *account, x *execution) bool {
	if !s.world.Forget(x.arn) {
		return false
	}
	s.forgets.Do(func() {
		s.log.Warn("the server forgets the executions that ended first: an account keeps no more of them",
			"execution", x.arn, "executions", s.keep.executions, "bytes", s.keep.bytes)
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(x)
	return true
}

// await has f, if it is not nil, called at the end of an execution, or now if it has ended.
func (a *account) await(x *execution, f func()) {
	if f == nil {
		return
	}
	a.mu.Lock()
	ended := x.open == 0
	if !ended {
		x.whenEnded = append(x.whenEnded, f)
	}
	a.mu.Unlock()
	if ended {
		f()
	}
}

// countEnd counts an execution that has ended, and the bytes that it keeps. It returns who
// waits for that, and what is to be forgotten now.
func (a *account) countEnd(executionARN string, bytes int64, keep limits) (waiting []func(), oldest []*execution) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.executions.byARN[executionARN]
	if x == nil {
		return nil, nil // a child of a Map Run
	}
	a.count(x.machine, -1)
	x.bytes = bytes
	waiting, x.whenEnded = x.whenEnded, nil
	if x.open--; x.open > 0 {
		return waiting, nil // somebody redrives it
	}
	return waiting, a.retire(x, keep)
}

// retireEnded counts all executions that have ended, after a replay, the oldest first. What
// it returns forgets those that are too many, once the journal takes that.
func (s *Server) retireEnded() (forget func()) {
	oldest := map[*account][]*execution{}
	for _, a := range s.allAccounts() {
		var ended []*execution
		a.mu.Lock()
		for _, x := range a.executions.byARN {
			if x.standing.Status != "" && x.standing.Status != sim.StatusRunning {
				ended = append(ended, x)
			}
		}
		a.mu.Unlock()
		slices.SortFunc(ended, inOrderOfEnds)
		for _, x := range ended {
			x.bytes = x.run.Load().Bytes()
			a.mu.Lock()
			oldest[a] = append(oldest[a], a.retire(x, s.keep)...)
			a.mu.Unlock()
		}
	}
	return func() {
		for a, all := range oldest {
			for _, x := range all {
				s.forget(a, x)
			}
		}
	}
}

func (s *Server) allAccounts() []*account {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.accounts))
}

// isChild tells whether a Map Run has started the execution.
func (k known) isChild() bool { return k.run != k.execution.run.Load() }
