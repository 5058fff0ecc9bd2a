package server

import (
	"cmp"
	"sync"

	"github.com/jobpoller/jobpoller/internal/ordered"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// roster lists executions, the newest first, those of a status apart from others.
type roster = ordered.Groups[sim.ListGroup, *execution]

func (x *execution) place() sim.ListPlace { return x.standing.ListPlace(int(x.number)) } //nolint:gosec // it counts starts

// newRoster returns a list in the order of ListExecutions.
func newRoster() *roster {
	return ordered.NewGroups[sim.ListGroup](func(a, b *execution) int { return a.place().Compare(b.place()) })
}

// starts lists the executions of all accounts by their starts, the newest first. A start
// never changes.
type starts struct {
	mu   sync.Mutex
	list *ordered.List[*execution]
}

func newStarts() *starts {
	return &starts{list: ordered.New(func(a, b *execution) int {
		return cmp.Or(b.started.Compare(a.started), cmp.Compare(b.number, a.number), cmp.Compare(a.arn, b.arn))
	})}
}

func (s *starts) add(x *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.Add(x)
}

func (s *starts) remove(x *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.Remove(x)
}

// after returns at most n executions behind one; nil: the newest.
func (s *starts) after(x *execution, n int) (page []*execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.list.All()
	if x != nil {
		rest = s.list.After(x)
	}
	for x := range rest {
		if page = append(page, x); len(page) == n {
			break
		}
	}
	return page
}

// newEnded returns a list in the order of ends: the oldest first.
func newEnded() *ordered.List[*execution] { return ordered.New(inOrderOfEnds) }

func inOrderOfEnds(a, b *execution) int {
	return cmp.Or(a.standing.Stop.Compare(b.standing.Stop), cmp.Compare(a.number, b.number))
}

// newNames returns a list in the order of names.
func newNames() *ordered.List[*execution] {
	return ordered.New(func(a, b *execution) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.arn, b.arn)) })
}

// follow is told how an execution stands, before anybody else is.
func (a *account) follow(x *execution, run *sim.Execution, now sim.Standing) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x.run.Store(run)
	if a.executions.byARN[x.arn] == x {
		a.list(x, now)
	}
}

// list lists an execution as it stands now; the zero Standing: no more. Its caller holds
// mu.
func (a *account) list(x *execution, now sim.Standing) {
	hasEnded := a.executions.ended.Remove(x)
	lists := x.machine.kind != asl.Express // nobody can ask for the others
	if lists && x.standing.Status != "" {
		for _, qualifier := range x.qualifiers() {
			x.machine.unlist(qualifier, x)
		}
	}
	wasThere := x.standing.Status != ""
	x.standing = now
	if now.Status == "" {
		if wasThere {
			a.starts.remove(x)
		}
		return
	}
	if !wasThere {
		x.started = now.Start
		a.starts.add(x)
	}
	if hasEnded {
		a.executions.ended.Add(x)
	}
	if lists {
		for _, qualifier := range x.qualifiers() {
			x.machine.list(qualifier, x)
		}
	}
}

// qualifiers are the lists that have the execution: that of its state machine, and those of
// the version and the alias with whose ARN it was started.
func (x *execution) qualifiers() []string {
	all := []string{""}
	if x.extra == nil {
		return all
	}
	if x.extra.versionARN != "" {
		all = append(all, x.extra.versionARN)
	}
	if x.extra.aliasARN != "" {
		all = append(all, x.extra.aliasARN)
	}
	return all
}

func (m *machine) list(qualifier string, x *execution) {
	r := m.rosters[qualifier]
	if r == nil {
		if m.rosters == nil {
			m.rosters = map[string]*roster{}
		}
		r = newRoster()
		m.rosters[qualifier] = r
	}
	r.Add(x.standing.ListGroup(), x)
}

func (m *machine) unlist(qualifier string, x *execution) {
	r := m.rosters[qualifier]
	if r.Remove(x.standing.ListGroup(), x); r.Len() == 0 {
		delete(m.rosters, qualifier)
	}
}
