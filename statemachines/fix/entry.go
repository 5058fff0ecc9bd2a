package fix

import (
	"context"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// chooseEntry finds what the loop waits for: what the table says, or the one entry of the
// operation whose successes all leave the loop in a trial, while its other statuses do not.
func (l *loop) chooseEntry(ctx context.Context, table lint.Loop, o Options) error {
	if l.entry = table.Entry; l.entry != nil {
		return nil
	}
	if table.ByName {
		return l.makeEntry(&table, o)
	}
	known, err := entriesOf(table.Operation)
	if err != nil {
		return err
	}
	var found []*catalog.Entry
	leaves := false
	for _, e := range known {
		l.entry, l.told = e, nil
		observed, err := l.observe(ctx, o)
		if _, refused := reasonOf(err); refused {
			continue
		} else if err != nil {
			return err
		}
		leaves = leaves || len(observed.exitsOf(pollcore.Success)) > 0
		if l.waitsFor(observed) {
			found = append(found, e)
		}
	}
	l.entry, l.told = nil, nil
	for _, isBetter := range []func(*catalog.Entry) bool{l.namesSuccess, func(e *catalog.Entry) bool { return e.Job != nil }} { // a job knows more statuses
		if better := slices.DeleteFunc(slices.Clone(found), func(e *catalog.Entry) bool { return !isBetter(e) }); len(better) > 0 {
			found = better
		}
	}
	switch {
	case len(found) == 1:
		l.entry = found[0]
	case len(found) > 1:
		return refuse("the catalogue knows %d waiters of %s that the loop may mean (%s)", len(found), table.Operation, namesOfEntries(found))
	case len(known) == 1:
		l.entry = known[0] // the trial of it says what is wrong
	case leaves:
		return refuse("the loop takes other statuses for a success than the waiters of %s in the catalogue (%s)", table.Operation, namesOfEntries(known))
	default:
		return refuse("in a trial, no success of %s leaves the loop (%s): jobpoller lint shows where each status leads. "+
			"Compare statuses alone, of one item that %q asks for",
			table.Operation, namesOfEntries(known), l.poll.Name)
	}
	return nil
}

// namesSuccess tells whether a state of the loop has the word for a success of an entry.
func (l *loop) namesSuccess(e *catalog.Entry) bool {
	return slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		m := a.Matcher.Output
		return a.State == pollcore.Success && m != nil && m.Comparator != pollcore.BooleanEquals && slices.ContainsFunc(l.states, func(s *asl.State) bool {
			text := string(l.node(s).Raw())
			return strings.Contains(text, `"`+m.Expected+`"`) || strings.Contains(text, "'"+m.Expected+"'")
		})
	})
}

func namesOfEntries(all []*catalog.Entry) string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	return strings.Join(names, ", ")
}

// entriesOf are the entries of the catalogue that poll an operation.
func entriesOf(polled string) ([]*catalog.Entry, error) {
	service, operation, _ := strings.Cut(polled, ":")
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return nil, err
	}
	var all []*catalog.Entry
	for _, listed := range listing.Entries {
		if listed.Operation != operation {
			continue
		}
		e, err := catalog.Lookup(listing.Key, listed.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// waitsFor tells whether the loop ends well with each success that it was tried with, and with
// no status of a job that runs.
func (l *loop) waitsFor(tried *observed) bool {
	successes := tried.exitsOf(pollcore.Success)
	for _, s := range tried.seen {
		switch {
		case s.later:
		case s.verdict == pollcore.Success && (s.exit == "" || l.flow.State(s.exit).Type == asl.TypeFail):
			return false
		case s.verdict == pollcore.Retry && slices.Contains(successes, s.route()):
			return false
		}
	}
	return len(successes) > 0
}
