package catalog_test

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// entries calls test with every waiter and job of the catalogue.
func entries(t *testing.T, test func(t *testing.T, l catalog.Listing, e catalog.Listed, found *catalog.Entry)) {
	t.Helper()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		for _, e := range l.Entries {
			found, err := catalog.Lookup(l.Key, e.Name)
			require.NoError(t, err, "%s %s", l.Key, e.Name)
			test(t, l, e, found)
		}
	}
}

// The catalogue has at least what AWS published when it began, and all of it
// compiles.
func TestEverythingCompiles(t *testing.T) {
	t.Parallel()
	count := map[catalog.Kind]int{}
	entries(t, func(t *testing.T, l catalog.Listing, e catalog.Listed, found *catalog.Entry) {
		t.Helper()
		count[e.Kind]++
		require.Equal(t, e.Kind, found.Kind)
		require.Equal(t, e.Waiter, found.Waiter.Name)
		require.Equal(t, e.Operation, found.Operation.Name)
		require.Equal(t, l.Key, found.Service.Key)
		require.Equal(t, e.Kind == catalog.AWSJob, found.Job != nil)
		require.Empty(t, found.Waiter.Documentation)
		require.NoError(t, found.Waiter.Validate())
		_, err := pollcore.Compile[any, any](found.Waiter)
		require.NoError(t, err, "%s %s", l.Key, e.Name)
	})
	require.GreaterOrEqual(t, count[catalog.AWSWaiter], 389)
	require.GreaterOrEqual(t, count[catalog.AWSJob], 100)
}

// Whatever a service is called, and however a name is written, the entry is the
// same.
func TestEveryName(t *testing.T) {
	t.Parallel()
	entries(t, func(t *testing.T, l catalog.Listing, e catalog.Listed, want *catalog.Entry) {
		t.Helper()
		for _, service := range []string{l.Key, l.Name, strings.ToUpper(l.Key), l.ARNName} {
			for _, name := range []string{e.Name, e.Waiter, strings.ToLower(e.Name), hyphenated(e.Waiter)} {
				found, err := catalog.Lookup(service, name)
				require.NoError(t, err)
				require.Equal(t, want.Service.Key, found.Service.Key, service)
				require.Equal(t, want.Name, found.Name, "%s %s", service, name)
			}
		}
		// IAM prefixes are shared by some services; a name of another kind goes
		// first.
		byPrefix, err := catalog.AWS().Find(l.IAMPrefix)
		require.NoError(t, err)
		require.Contains(t, []string{byPrefix.Key, byPrefix.Name, byPrefix.ARNName, byPrefix.IAMPrefix}, l.IAMPrefix)
	})
}

// hyphenated writes a name as the AWS CLI does.
func hyphenated(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// The index says what the files do, and each is there for a reason.
func TestIndex(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	files, err := fs.ReadDir(os.DirFS("data"), ".")
	require.NoError(t, err)
	require.Len(t, files, len(list)+2) // the index and the table of endings
	require.True(t, slices.IsSortedFunc(list, func(a, b catalog.Listing) int { return strings.Compare(a.Key, b.Key) }))
	for _, l := range list {
		s, err := catalog.AWS().Service(l.Key)
		require.NoError(t, err)
		require.Equal(t, l, s.Listing())
		require.NotEmpty(t, l.Entries, l.Key)
	}
}

// An answer to HEAD names no error, so its errors are known by their status.
func TestErrorsOfStatuses(t *testing.T) {
	t.Parallel()
	s3, err := catalog.AWS().Service("s3")
	require.NoError(t, err)
	require.Equal(t, []catalog.Error{
		{Shape: "NoSuchBucket", Status: 404},
		{Code: "MovedPermanently", Status: 301},
		{Code: "Forbidden", Status: 403},
		{Code: "NotFound", Status: 404},
	}, s3.Operations["HeadBucket"].Errors)
	require.Equal(t, []catalog.Error{{Shape: "NoSuchKey", Status: 404}, {Code: "NotFound", Status: 404}}, s3.Operations["HeadObject"].Errors)
}

// A file holds what its waiters and jobs need, and nothing else.
func TestNothingTooMuch(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		s, err := catalog.AWS().Service(l.Key)
		require.NoError(t, err)
		called := callsOf(s)
		require.Equal(t, slices.Sorted(maps.Keys(called)), slices.Sorted(maps.Keys(s.Operations)), l.Key)
		reached := map[*catalog.Shape]bool{}
		for name, o := range s.Operations {
			for _, side := range []struct {
				name  string
				shape *catalog.Shape
			}{{o.InputShape, o.Input}, {o.OutputShape, o.Output}} {
				require.Equal(t, side.name != "", side.shape != nil, "%s %s", l.Key, name)
				reach(side.shape, reached)
			}
			for _, e := range o.Errors {
				require.True(t, e.Shape != "" || e.Code != "" && e.Status >= 300, "%s %s: an error without a shape is known by its status", l.Key, name)
			}
			for _, action := range o.Actions {
				require.Contains(t, action, ":", "%s %s", l.Key, name)
			}
		}
		for name, shape := range s.Shapes {
			require.True(t, reached[shape], "%s: nothing reaches the shape %s", l.Key, name)
			require.Equal(t, name, shape.Name)
		}
	}
}

// callsOf are the operations that the waiters and jobs of a service call.
func callsOf(s *catalog.Service) map[string]bool {
	called := map[string]bool{}
	for _, w := range s.Waiters {
		called[w.Operation] = true
	}
	for start, j := range s.Jobs {
		called[start], called[j.Describe] = true, true
		if j.Stop != nil {
			called[j.Stop.Operation] = true
		}
		if j.Precondition != nil {
			called[j.Precondition.Operation] = true
		}
		if j.Batch != nil {
			called[j.Batch.Operation] = true
		}
		if j.List != nil {
			called[j.List.Operation] = true
		}
	}
	if s.Key == "timestream-write" { // which has to be asked for its endpoint
		called[catalog.EndpointOperation] = true
	}
	return called
}

func reach(s *catalog.Shape, reached map[*catalog.Shape]bool) {
	if s == nil || reached[s] {
		return
	}
	reached[s] = true
	for _, m := range s.Members {
		reach(m.Shape, reached)
	}
	if s.Element != nil {
		reach(s.Element.Shape, reached)
	}
}
