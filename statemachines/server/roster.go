package server

import (
	"cmp"

	"github.com/jobpoller/jobpoller/internal/ordered"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// roster lists executions, the newest first, those of a status apart from others.
type roster = ordered.Groups[group, *execution]

// group is what executions have in common that a request selects.
type group struct {
	status   sim.Status
	redriven bool
}

func groupOf(s *sim.Standing) group { return group{s.Status, s.Redriven()} }

// place is where a list has an execution: the time in milliseconds, and a number that
// makes the order a total one.
type place struct {
	at     int64
	number uint64
}

func (x *execution) place() place { return place{x.standing.At().UnixMilli(), x.number} }

// newRoster returns a list in the order of ListExecutions.
func newRoster() *roster {
	return ordered.NewGroups[group](func(a, b *execution) int {
		p, q := a.place(), b.place()
		return cmp.Or(cmp.Compare(q.at, p.at), cmp.Compare(q.number, p.number))
	})
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
	x.standing = now
	if now.Status == "" {
		return
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
	r.Add(groupOf(&x.standing), x)
}

func (m *machine) unlist(qualifier string, x *execution) {
	r := m.rosters[qualifier]
	if r.Remove(groupOf(&x.standing), x); r.Len() == 0 {
		delete(m.rosters, qualifier)
	}
}
