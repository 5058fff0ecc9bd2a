package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Of 243 jobs 103 have a list with times: 91 in the list, 12 in the describe call of each.
// The table gives the reason for the others.
func TestEveryJobHasAListOrAReason(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("sources/lists.json")
	require.NoError(t, err)
	var table struct {
		WithoutList []struct {
			Jobs   []string `json:"jobs"`
			Reason string   `json:"reason"`
		} `json:"withoutList"`
	}
	require.NoError(t, json.Unmarshal(text, &table))
	without := map[string]string{}
	for _, group := range table.WithoutList {
		for _, name := range group.Jobs {
			without[name] = group.Reason
		}
	}
	own, described := 0, 0
	var undated []string // without timestamps in the model: that they are times is documented
	jobs(t, func(t *testing.T, name string, e *catalog.Entry) {
		t.Helper()
		l := e.Job.List
		if l == nil {
			require.NotEmpty(t, without[name], name)
			delete(without, name)
			return
		}
		op := e.Service.Operations[l.Operation]
		item := at(op.Output, l.Items).Element.Shape
		if l.Describe == nil {
			own++
			shape := at(item, l.End)
			require.Equal(t, shape.Type, at(item, l.Start).Type, name)
			if shape.Type != catalog.Timestamp {
				undated = append(undated, fmt.Sprintf("%s: %s", name, shape.Type))
			}
		} else {
			described++
			require.NotEmpty(t, e.Job.StartTime, name)
			require.NotEmpty(t, e.Job.EndTime, name)
		}
		require.True(t, strings.HasPrefix(l.Operation, "List") || strings.HasPrefix(l.Operation, "Get") || strings.HasPrefix(l.Operation, "Describe") ||
			strings.HasPrefix(l.Operation, "Search"), "%s: %s may change something", name, l.Operation)
		require.NotNil(t, op.Input.Member(l.Token), "%s: every list has pages", name)
	})
	require.Empty(t, without, "jobs that have a list, or that are not there")
	require.Equal(t, []string{
		"batch:SubmitJob: long", "drs:StartRecovery: string", "glacier:InitiateJob: string", "logs:CreateExportTask: long", "mgn:StartCutover: string",
		"mgn:StartTest: string",
	}, undated)
	require.Equal(t, 91, own)
	require.Equal(t, 12, described)
}

// at is the shape that a path leads to.
func at(s *catalog.Shape, path string) *catalog.Shape {
	for name := range strings.SplitSeq(path, ".") {
		s = s.Member(name).Shape
	}
	return s
}

func TestListCall(t *testing.T) {
	t.Parallel()
	l := catalog.ListCall{
		Operation: "ListRuns", Arguments: map[string]string{"order": "'newest'", "none": "input.x"},
		Items: "page.runs", Where: map[string][]string{"kind": {"nightly", "weekly"}},
		Describe: map[string]string{"id": "item.id", "group": "input.group"}, Token: "from", Next: "next",
	}
	constants, err := l.Constants()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"order": "newest"}, constants)
	nightly, weekly := map[string]any{"kind": "nightly"}, map[string]any{"kind": "weekly"}
	page := map[string]any{"page": map[string]any{"runs": []any{nightly, map[string]any{"kind": "test"}, map[string]any{}, "x", weekly}}, "next": "2", "from": "1"}
	items, err := l.ReadItems(page)
	require.NoError(t, err)
	require.Equal(t, []any{nightly, weekly}, items)
	require.Equal(t, "2", l.NextPage(page))
	input, err := l.DescribeInput(map[string]any{}, map[string]any{"id": "7"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": "7"}, input)

	for _, answer := range []any{nil, map[string]any{}, map[string]any{"page": "x"}, []any{}} {
		items, err := l.ReadItems(answer)
		require.NoError(t, err)
		require.Empty(t, items)
		require.Empty(t, l.NextPage(answer))
	}
	_, err = l.ReadItems(map[string]any{"page": map[string]any{"runs": "x"}})
	require.EqualError(t, err, "the answer of ListRuns has no list at page.runs")
	require.Equal(t, "1", (&catalog.ListCall{Token: "from"}).NextPage(page))
	require.Empty(t, (&catalog.ListCall{}).NextPage(page))
}
