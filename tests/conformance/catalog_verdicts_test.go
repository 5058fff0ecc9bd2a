package conformance_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/responses"
)

var seed = flag.Uint64("seed", 1, "the seed of the random calls of suite catalog-verdicts")

// randomCalls is how many random calls each entry of the catalogue gets.
const randomCalls = 20

var catalogSuites = []suite{
	{name: "catalog-verdicts", cases: 0, run: runCatalogVerdicts, differences: map[string]string{}},
}

// unreachable are the acceptors that no call reaches, each with the reason.
var unreachable = map[string]string{}

// entries are all entries of the catalogue, in its order.
func entries(t *testing.T) []*catalog.Entry {
	t.Helper()
	list, err := catalog.AWS.List()
	require.NoError(t, err)
	var all []*catalog.Entry
	for _, service := range list {
		for _, listed := range service.Entries {
			e, err := catalog.AWS.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			require.Equal(t, listed.Kind, e.Kind, "%s %s: another entry has the name too", service.Key, listed.Name)
			all = append(all, e)
		}
	}
	return all
}

// runCatalogVerdicts compares what pollcore makes of calls of every waiter and
// job with what a second implementation makes of them: calls made to reach each
// acceptor, to have each value of a status, and to reach none, all errors, and
// random calls.
func runCatalogVerdicts(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	missed := map[string]string{}
	acceptors, reached := 0, 0
	for _, e := range entries(t) {
		name := e.Service.Key + " " + e.Name
		check, err := pollcore.Compile[any, any](e.Waiter)
		require.NoError(t, err, name)
		m, err := responses.NewMaker(e)
		require.NoError(t, err, name)

		cases := slices.Concat(m.Fixed(), m.Values(), m.Errors(), m.Random(randomCalls, *seed))
		for i := range e.Waiter.Acceptors {
			acceptors++
			c, found := m.Reach(i)
			if !found {
				missed[fmt.Sprintf("%s, acceptor %d", name, i+1)] = e.Waiter.Acceptors[i].Matcher.String()
				continue
			}
			reached++
			cases = append(cases, c)
		}
		c, found := m.Reach(pollcore.NoAcceptor)
		require.Equal(t, !acceptsAny(e.Waiter), found, "%s: whether a response reaches no acceptor", name)
		if found {
			cases = append(cases, c)
		}
		for _, c := range cases {
			r.total++
			if what := differ(check, m, c); what != "" {
				r.failures[name+": "+c.Name] = what
			}
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(unreachable)), slices.Sorted(maps.Keys(missed)), "%v", missed)
	r.notes = append(r.notes, fmt.Sprintf("reached %d of %d acceptors; seed %d", reached, acceptors, *seed))
	return r
}

// acceptsAny tells whether an acceptor takes whatever response there is.
func acceptsAny(w *pollcore.Waiter) bool {
	return slices.ContainsFunc(w.Acceptors, func(a pollcore.Acceptor) bool { return a.Matcher.Success != nil && *a.Matcher.Success })
}

// differ says in what pollcore judges a call otherwise than the second
// implementation, and nothing if it does not.
func differ(check *pollcore.Check[any, any], m *responses.Maker, c responses.Case) string {
	want, err := m.Verdict(c)
	if err != nil {
		return "the second implementation fails: " + err.Error()
	}
	got := check.Check(c.Input, c.Output, c.Err)
	if own := (responses.Verdict{State: got.Verdict, Acceptor: got.Acceptor, Seen: got.Seen, Message: got.Message}); !responses.Equal(own, want) {
		return fmt.Sprintf("%+v, want %+v", own, want)
	}
	return ""
}
