package catalog_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Each row of changes.json is of calls and members that the models have, with values of theirs.
func TestChangesAreOfTheModels(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("changes.json")
	require.NoError(t, err)
	var rows []catalog.Change
	require.NoError(t, json.Unmarshal(text, &rows))
	require.NotEmpty(t, rows)
	for _, row := range rows {
		service, err := models.Load(row.Service)
		require.NoError(t, err)
		require.NotEmpty(t, row.Source)
		require.NotEmpty(t, row.Running)
		values := map[string][]string{} // of the enums of the answer, by their paths
		eachMember(service.Operations[row.Describes].Output, "", 0, func(path string, s *catalog.Shape) { values[path] = s.Enum })
		hasValue := func(value string) bool {
			for path, all := range values {
				isValue := slices.Contains(all, value) || len(all) == 0 && path == row.Status && isNamed(t, row.Service, row.Describes, value)
				if isValue && (row.Status == "" || path == row.Status) {
					return true
				}
			}
			return false
		}
		if row.Done == "" {
			require.True(t, hasValue(row.Running), row.Running)
		} else { // the text of a header
			require.Contains(t, values, row.Status)
			require.Empty(t, values[row.Status])
		}
		require.True(t, row.Undone == "" || hasValue(row.Undone), row.Undone)
		for path, value := range row.Stays {
			require.Contains(t, values[path], value)
		}
		for _, call := range row.Calls {
			require.NotNil(t, service.Operations[call], call)
			require.Equal(t, row, *service.ChangedBy(call, row.Describes))
		}
		for call, member := range row.Tells {
			require.Contains(t, row.Calls, call)
			require.Contains(t, values, member)
			require.NotNil(t, service.Operations[call].Input.Member(member[strings.LastIndex(member, ".")+1:]))
		}
		require.Nil(t, service.ChangedBy("Other", row.Describes))
	}
}

// isNamed tells whether a waiter or a job of the catalogue on an operation names a value: that of a text
// without a list in the model.
func isNamed(t *testing.T, service, operation, value string) bool {
	t.Helper()
	named := false
	eachEntry(t, func(e *catalog.Entry) {
		if e.Service.Key != service || e.Operation.Name != operation {
			return
		}
		named = named || slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
			return a.Matcher.Output != nil && a.Matcher.Output.Expected == value
		})
	})
	return named
}
