package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// AWS's waiter of a step has no acceptor for INTERRUPTED. The entry's has one behind AWS's.
func TestWaiterEnd(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("emr", "step-complete")
	require.NoError(t, err)
	require.Len(t, e.Published().Acceptors, 3)
	require.Len(t, e.Waiter.Acceptors, 4)
	check, err := pollcore.Compile[any, any](e.Waiter)
	require.NoError(t, err)
	result := check.Check(nil, map[string]any{"Step": map[string]any{"Status": map[string]any{"State": "INTERRUPTED"}}}, nil)
	require.Equal(t, pollcore.Failure, result.Verdict)
	require.Nil(t, e.EndOf(2))
	require.Equal(t, []string{"INTERRUPTED"}, e.EndOf(result.Acceptor).Values)
	require.NotEmpty(t, e.EndOf(3).Source)
	require.Nil(t, e.EndOf(pollcore.NoAcceptor))

	volume, err := catalog.Lookup("ec2", "volume-available") // several things in an answer
	require.NoError(t, err)
	require.Equal(t, pollcore.AnyStringEquals, volume.Waiter.Acceptors[2].Matcher.Output.Comparator)

	job, err := catalog.Lookup("emr", "StartNotebookExecution")
	require.NoError(t, err)
	require.Equal(t, job.Waiter, job.Published())
	require.Nil(t, job.EndOf(0))
}

// The entry's waiter is the one that AWS publishes, and behind it the failures of the table.
func TestWaitersArePublishedOnes(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	values := 0
	for _, l := range list {
		s, err := catalog.AWS().Service(l.Key)
		require.NoError(t, err)
		for name, data := range s.Waiters {
			e, err := catalog.AWS().Lookup(l.Key, name)
			require.NoError(t, err)
			published, err := pollcore.ParseWaiter(name, data.Waiter)
			require.NoError(t, err)
			require.Equal(t, published, e.Published(), e.FullName())
			for i, a := range e.Waiter.Acceptors {
				end := e.EndOf(i)
				require.Equal(t, i >= len(published.Acceptors), end != nil, "%s: acceptor %d", e.FullName(), i)
				if end == nil {
					continue
				}
				values++
				require.Equal(t, pollcore.Failure, a.State)
				require.Equal(t, end.Path, a.Matcher.Output.Path)
				require.Contains(t, end.Values, a.Matcher.Output.Expected)
			}
		}
	}
	require.Equal(t, 318, values)
}
