package conformance_test

import (
	"cmp"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	community "github.com/jmespath-community/go-jmespath"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/responses"
)

var seed = flag.Uint64("seed", 1, "the seed of the random calls of suite catalog-verdicts")

// randomCalls is how many random calls each entry of the catalogue gets.
const randomCalls = 20

var catalogSuites = []suite{
	{name: "catalog-verdicts", cases: 34757, run: runCatalogVerdicts, differences: map[string]string{
		"rds TenantDatabaseDeleted: error DBInstanceNotFound":                  bareCode,
		"rds TenantDatabaseDeleted: error DBInstanceNotFound with a namespace": bareCode,
		"rds TenantDatabaseDeleted: error DBInstanceNotFound with an address":  bareCode,
		"rds TenantDatabaseDeleted: error DBInstanceNotFound within another":   bareCode,
	}},
}

// bareCode is why the one acceptor of AWS's that names a shape with another code
// misses an error that has nothing but the code.
const bareCode = "the acceptor names the shape, DBInstanceNotFoundFault; an error without the SDK's type has only its code, " +
	"and pollcore does not know the model that joins the two"

// deviations are what the library does otherwise than the specification, each
// with a call that must have the same verdict and does not meet it.
var deviations = []struct {
	reason string
	meets  func(w *pollcore.Waiter) bool
	around func(c responses.Case) responses.Case
}{
	{
		reason: "the library selects from null, where a multi-select is null: asked without the nulls in lists, which projections drop",
		meets: func(w *pollcore.Waiter) bool {
			return slices.ContainsFunc(w.Acceptors, func(a pollcore.Acceptor) bool {
				return a.Matcher.Output != nil && strings.Contains(a.Matcher.Output.Path, ".[")
			})
		},
		around: func(c responses.Case) responses.Case {
			c.Output = withoutNulls(c.Output)
			return c
		},
	},
}

// withoutNulls is a value without the nulls in its lists.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, item := range v {
			if item != nil {
				list = append(list, withoutNulls(item))
			}
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			object[name] = withoutNulls(item)
		}
		return object
	default:
		return v
	}
}

// entries are all entries of the catalogue, in its order.
func entries(t *testing.T) []*catalog.Entry {
	t.Helper()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	var all []*catalog.Entry
	for _, service := range list {
		for _, listed := range service.Entries {
			e, err := catalog.AWS().Lookup(service.Key, listed.Name)
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
	var missed []string // acceptors that no call reaches
	met := make([]int, len(deviations))
	kinds := map[string]int{}
	acceptors := 0
	for _, e := range entries(t) {
		name := e.Service.Key + " " + e.Name
		check, err := pollcore.Compile[any, any](e.Waiter)
		require.NoError(t, err, name)
		m, err := responses.NewMaker(e)
		require.NoError(t, err, name)

		cases := slices.Concat(m.Basics(), m.Values(), m.Errors(), m.Random(randomCalls, *seed))
		for i := range e.Waiter.Acceptors {
			acceptors++
			c, found := m.Reach(i)
			if !found {
				missed = append(missed, fmt.Sprintf("%s, acceptor %d: %s", name, i+1, e.Waiter.Acceptors[i].Matcher))
				continue
			}
			cases = append(cases, c)
		}
		c, found := m.Reach(pollcore.NoAcceptor)
		require.Equal(t, !acceptsAny(e.Waiter), found, "%s: whether a response reaches no acceptor", name)
		if found {
			cases = append(cases, c)
		}
		for _, c := range cases {
			r.total++
			what, kind := differ(check, e.Waiter, m, c)
			kinds[kind]++
			for i, d := range deviations {
				if what != "" && d.meets(e.Waiter) {
					if what, _ = differ(check, e.Waiter, m, d.around(c)); what == "" {
						met[i]++
					}
				}
			}
			if what != "" {
				r.failures[name+": "+c.Name] = what
			}
		}
	}
	for i, d := range deviations {
		if met[i] > 0 {
			r.notes = append(r.notes, fmt.Sprintf("in %d cases %s", met[i], d.reason))
		}
	}
	require.Empty(t, missed)
	r.notes = append(r.notes, fmt.Sprintf("reached %d acceptors, which are all; verdicts %v; seed %d", acceptors, kinds, *seed))
	return r
}

// The ends that the catalogue adds to a waiter of AWS's change verdicts of retry alone, to a
// failure, and only where the answer has one of their values.
func TestEndsTurnRetriesAlone(t *testing.T) {
	t.Parallel()
	for _, e := range entries(t) {
		if len(e.Ends) == 0 {
			continue
		}
		name := e.Service.Key + " " + e.Name
		whole, err := pollcore.Compile[any, any](e.Waiter)
		require.NoError(t, err, name)
		published, err := pollcore.Compile[any, any](e.Published())
		require.NoError(t, err, name)
		m, err := responses.NewMaker(e)
		require.NoError(t, err, name)
		cases, added := slices.Concat(m.Basics(), m.Values(), m.Errors(), m.Random(randomCalls, *seed)), map[int]bool{}
		for i := range e.Waiter.Acceptors {
			if e.EndOf(i) != nil {
				added[i] = true
				c, found := m.Reach(i)
				require.True(t, found, "%s, acceptor %d", name, i+1)
				cases = append(cases, c)
			}
		}
		for _, c := range cases {
			got, want := whole.Check(c.Input, c.Output, c.Err), published.Check(c.Input, c.Output, c.Err)
			if end := e.EndOf(got.Acceptor); end != nil {
				delete(added, got.Acceptor)
				require.Equal(t, pollcore.Retry, want.Verdict, "%s: %s", name, c.Name)
				require.Equal(t, pollcore.NoAcceptor, want.Acceptor, "%s: %s", name, c.Name)
				require.Equal(t, pollcore.Failure, got.Verdict, "%s: %s", name, c.Name)
				continue
			}
			require.Equal(t, want, got, "%s: %s", name, c.Name)
		}
		require.Empty(t, added, "%s: acceptors that took no answer", name)
	}
}

// acceptsAny tells whether an acceptor takes whatever response there is.
func acceptsAny(w *pollcore.Waiter) bool {
	return slices.ContainsFunc(w.Acceptors, func(a pollcore.Acceptor) bool { return a.Matcher.Success != nil && *a.Matcher.Success })
}

// differ says in what pollcore judges a call otherwise than the second
// implementation, and nothing if it does not; and which verdict it gave.
func differ(check *pollcore.Check[any, any], w *pollcore.Waiter, m *responses.Maker, c responses.Case) (what, kind string) {
	got := check.Check(c.Input, c.Output, c.Err)
	own := responses.Verdict{State: got.Verdict, Acceptor: got.Acceptor, Seen: got.Seen, Message: got.Message}
	kind = string(own.State)
	if own.Acceptor == pollcore.NoAcceptor {
		kind += " without an acceptor"
	}
	want, err := m.Verdict(c)
	if err != nil {
		return "the second implementation fails: " + err.Error(), kind
	}
	if own.Acceptor != pollcore.NoAcceptor && own.Acceptor == want.Acceptor && w.Acceptors[own.Acceptor].Matcher.Output != nil &&
		strings.Contains(w.Acceptors[own.Acceptor].Matcher.Output.Path, ".*") { // JMESPath leaves the order of an object's values open
		own.Seen, want.Seen = inOrder(own.Seen), inOrder(want.Seen)
	}
	if !reflect.DeepEqual(own, want) {
		return fmt.Sprintf("%+v, want %+v", own, want), kind
	}
	return "", kind
}

// inOrder sorts a list of texts.
func inOrder(seen any) any {
	list, _ := seen.([]any)
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// The library still has the deviation that cases are excused for.
func TestDeviations(t *testing.T) {
	t.Parallel()
	got, err := community.Search("[a]", nil)
	require.NoError(t, err)
	require.Equal(t, []any{nil}, got, "the specification says null; if the library does too, there is nothing to excuse")
}
