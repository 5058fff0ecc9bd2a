package catalog_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// open is a catalogue of one service, press, whose file has the text.
func open(service string) *catalog.Catalog {
	return catalog.Open(fstest.MapFS{
		catalog.IndexFile: {Data: []byte(`[{"name": "Press", "key": "press", "entries": [
			{"name": "SheetPrinted", "kind": "waiter", "waiter": "SheetPrinted", "operation": "GetSheet"},
			{"name": "PrintBook", "kind": "job", "waiter": "BookPrinted", "operation": "GetBook"}]}]`)},
		"press.json": {Data: []byte(service)},
	})
}

// A file that is not whole is refused when it is read: what uses a service
// takes its parts for given.
func TestServiceRefusesAFileThatIsNotWhole(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"shape", `{"key": "press", "shapes": {"Sheet": null}}`, "service press: shape Sheet is null"},
		{"operation", `{"key": "press", "operations": {"GetSheet": null}}`, "service press: operation GetSheet is null"},
		{"waiter", `{"key": "press", "waiters": {"SheetPrinted": null}}`, "service press: waiter SheetPrinted is null"},
		{"job", `{"key": "press", "jobs": {"PrintBook": null}}`, "service press: job PrintBook is null"},
		{"list of nothing", `{"key": "press", "shapes": {"Sheets": {"type": "list"}}}`, "service press: shape Sheets: a list needs an element"},
		{"map of nothing", `{"key": "press", "shapes": {"Sheets": {"type": "map"}}}`, "service press: shape Sheets: a map needs an element"},
		{"type", `{"key": "press", "shapes": {"Sheet": {"type": "paper"}}}`, `service press: shape Sheet: the type "paper" is not known`},
		{"no type", `{"key": "press", "shapes": {"Sheet": {}}}`, `service press: shape Sheet: the type "" is not known`},
		{"target", `{"key": "press", "shapes": {"Sheet": {"type": "structure", "members": {"Size": "Sise"}}}}`, `service press: shape Sheet: member Size: there is no shape "Sise"`},
		{"null target", `{"key": "press", "shapes": {"Sheets": {"type": "list", "element": {}}}}`, `service press: shape Sheets: member : there is no shape ""`},
		{"input", `{"key": "press", "operations": {"GetSheet": {"input": "Sheet"}}}`, `service press: operation GetSheet: there is no shape "Sheet"`},
		{"another service", `{"key": "oven"}`, `catalogue: press.json: it is of the service "oven"`},
		{"nothing", `null`, `catalogue: press.json: it is of the service ""`},
		{"no JSON", `{`, "catalogue: press.json: unexpected end of JSON input"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := open(tt.text)
			for range 2 { // the second time it is not read again
				_, err := c.Service("press")
				require.ErrorContains(t, err, tt.want)
				_, err = c.Lookup("press", "SheetPrinted")
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
}

// The index can name what the file does not have.
func TestLookupOfWhatTheFileLacks(t *testing.T) {
	t.Parallel()
	const waiter = `"waiters": {"SheetPrinted": {"operation": "GetSheet", "waiter": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}`
	_, err := open(`{"key": "press", `+waiter+`}`).Lookup("press", "SheetPrinted")
	require.EqualError(t, err, `catalogue: press SheetPrinted: the file of the service does not have the operation "GetSheet"`)
	_, err = open(`{"key": "press", `+waiter+`}`).Lookup("press", "BookPrinted")
	require.EqualError(t, err, `catalogue: press PrintBook: the file of the service does not have it`)
}

func TestNewWaiter(t *testing.T) {
	t.Parallel()
	const acceptors = `[{"state": "success", "matcher": {"output": {"path": "Status", "expected": "DONE", "comparator": "stringEquals"}}}]`
	tests := []struct {
		name string
		job  catalog.Job
		want [2]int
	}{
		{"given", catalog.Job{MinDelay: 20, MaxDelay: 60}, [2]int{20, 60}},
		{"none", catalog.Job{}, [2]int{0, 0}},
		{"only the shortest", catalog.Job{MinDelay: 20}, [2]int{20, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			byStatus, byAcceptors := tt.job, tt.job
			byStatus.Waiter, byStatus.Status, byStatus.Success = "BookPrinted", "Status", []string{"DONE"}
			byAcceptors.Waiter, byAcceptors.Acceptors = "BookPrinted", []byte(acceptors)
			want, err := byStatus.NewWaiter()
			require.NoError(t, err)
			require.Equal(t, tt.want, [2]int{want.MinDelay, want.MaxDelay})
			got, err := byAcceptors.NewWaiter()
			require.NoError(t, err)
			require.Equal(t, want, got, "it does not matter how the verdicts are written")
		})
	}
	for _, job := range []catalog.Job{
		{Waiter: "BookPrinted", Status: "Status", Success: []string{"DONE"}, MinDelay: 60, MaxDelay: 20},
		{Waiter: "BookPrinted", Acceptors: []byte(acceptors), MinDelay: 60, MaxDelay: 20},
	} {
		_, err := job.NewWaiter()
		require.ErrorContains(t, err, "minDelay (60) must not be above maxDelay (20)")
		require.ErrorAs(t, err, new(diag.Problems))
	}
}

// A word is searched in each name, not in names that are put together.
func TestSearchLooksAtOneName(t *testing.T) {
	t.Parallel()
	c := open(`{"key": "press"}`)
	for word, want := range map[string]int{
		"": 2, "press": 2, "PRINTED": 2, "get-book": 1, "printbook": 1, "printedsheet": 0, "bookbook": 0, "printedget": 0,
	} {
		found, err := c.Search(word)
		require.NoError(t, err)
		got := 0
		for _, s := range found {
			got += len(s.Entries)
		}
		require.Equal(t, want, got, word)
	}
}
