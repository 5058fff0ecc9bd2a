package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/tests/race"
)

// mostPage is how large a page may be, whatever the history.
const mostPage = 5 << 20

// mostEvents is how many events a history has at most.
var mostEvents = race.Of(asl.MaxEvents, 4000)

// long is a history of mostEvents events in which state and data differ from visit to
// visit, and each text has so many bytes.
func long(t *testing.T, states, size int) *history.Execution {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const kept = 8 // different texts, so that the test takes little memory
	texts := make([]string, kept)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"n": %d, "text": %q}`, i, strings.Repeat("x", size))
	}
	e := &history.Execution{Title: "long", Status: history.StatusFailed, Start: at}
	add := func(kind string, event history.Event) {
		event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), int64(len(e.Events)), kind, at
		event.Index, event.Length = -1, -1
		e.Events = append(e.Events, event)
	}
	for turn := 0; len(e.Events) < mostEvents-6; turn++ {
		name := fmt.Sprintf("A state with a rather long name, number %d of them all", turn*turn%states)
		text := texts[turn%kept]
		add("TaskStateEntered", history.Event{Name: name, Input: text})
		add("TaskScheduled", history.Event{ResourceType: "aws-sdk:athena", Resource: "getQueryExecution", Parameters: `{"QueryExecutionId":"q"}`})
		at = at.Add(time.Duration(1+turn%7) * time.Second)
		if turn%3 == 0 {
			add("TaskFailed", history.Event{Error: "Athena.AthenaException", Cause: text})
		} else {
			add("TaskSucceeded", history.Event{Output: text})
		}
		add("TaskStateExited", history.Event{Name: name, Output: text})
	}
	e.Stop = at
	return e
}

// A page of 25,000 events has all of them and is no larger than it may be: where a
// turn goes through many states, and where every text is as large as it can be.
func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		states, size int
	}{{"many states", 60, 20}, {"large texts", 1, asl.MaxPayloadBytes}} {
		e := long(t, c.states, c.size)
		page, err := report.HTML(e, report.Options{})
		require.NoError(t, err)
		require.Less(t, len(page), mostPage, c.name)
		require.Equal(t, len(e.Events), strings.Count(string(page), "<tr id=e"), c.name)
		polls := 0
		for _, n := range countMarks(string(page)) {
			polls += n
		}
		require.Equal(t, len(e.Events)/4, polls, c.name)
		text := report.Text(e, report.TextOptions{})
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, len([]rune(line)), 81, line)
		}
		_, steps, _ := strings.Cut(text, "\nWhat happened\n")
		require.LessOrEqual(t, strings.Count(steps, "\n"), 41, c.name)
	}
	_, steps, _ := strings.Cut(report.Text(long(t, 1009, 20), report.TextOptions{}), "\nWhat happened\n")
	require.Equal(t, 41, strings.Count(steps, "\n"), "where no turn is like another")
}

// A call that is retried until the history is full fails with the longest error each
// time, and never with the same.
func TestPageOfRetriesIsBounded(t *testing.T) {
	t.Parallel()
	e := &history.Execution{Title: "retries", Status: history.StatusFailed, Start: time.Unix(0, 0), Stop: time.Unix(25_000, 0)}
	add := func(kind string, event history.Event) {
		event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), int64(len(e.Events)), kind, time.Unix(int64(len(e.Events)), 0)
		event.Index, event.Length = -1, -1
		e.Events = append(e.Events, event)
	}
	add("TaskStateEntered", history.Event{Name: "Get"})
	for len(e.Events) < mostEvents-1 {
		add("TaskScheduled", history.Event{ResourceType: "aws-sdk:athena", Resource: "getQueryExecution", Parameters: `{"QueryExecutionId":"q"}`})
		add("TaskFailed", history.Event{Error: fmt.Sprintf("Athena.%0249d", len(e.Events)), Cause: strings.Repeat("slow down ", 1000)})
	}
	page, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"failed": len(e.Events) / 2}, countMarks(string(page)))
	require.Less(t, len(page), mostPage)
}

// Histories of 25,000 events of every kind are on a page that is no larger than it
// may be: it has all events, visits and polls.
func TestPageOfEveryKindIsBounded(t *testing.T) {
	t.Parallel()
	poll := func(add adder, id, status string, previous int64) int64 {
		previous = add(previous, "TaskScheduled", history.Event{ResourceType: "aws-sdk:athena", Resource: "getQueryExecution", Parameters: `{"QueryExecutionId":"` + id + `"}`})
		return add(previous, "TaskSucceeded", history.Event{Output: `{"QueryExecution":{"Status":{"State":"` + status + `"}}}`})
	}
	most := mostEvents
	for name, kind := range map[string]struct {
		events func(add adder)
		polls  int
	}{
		"open Maps": {func(add adder) {
			for k := range most / 2 {
				add(1, "MapStateEntered", history.Event{Name: fmt.Sprintf("M%d", k)})
			}
			for range most / 2 {
				add(1, "MapRunStarted", history.Event{})
			}
		}, 0},
		"names": {func(add adder) {
			for k := range most {
				add(1, "PassStateEntered", history.Event{Name: fmt.Sprintf("%s %d", strings.Repeat("n", 74), k), Input: fmt.Sprintf(`{"a": %d}`, k)})
			}
		}, 0},
		"jobs one after the other": {func(add adder) {
			for k := range most / 6 {
				last := add(1, "TaskStateEntered", history.Event{Name: "Get"})
				for range 2 {
					last = poll(add, fmt.Sprintf("q%d", k), "RUNNING", last)
				}
				add(last, "TaskStateExited", history.Event{Name: "Get"})
			}
		}, most / 6 * 2},
		"jobs of iterations": {func(add adder) {
			started := add(add(1, "MapStateEntered", history.Event{Name: "M"}), "MapStateStarted", history.Event{})
			for k := range most / 6 {
				last := add(add(started, "MapIterationStarted", history.Event{Name: "M", Index: k}), "TaskStateEntered", history.Event{Name: "Get"})
				poll(add, fmt.Sprintf("q%d", k), "SUCCEEDED", poll(add, fmt.Sprintf("q%d", k), "QUEUED", last))
			}
		}, most / 6 * 2},
		"statuses": {func(add adder) {
			for k := range most / 4 {
				last := add(1, "TaskStateEntered", history.Event{Name: "Get"})
				add(poll(add, "q", fmt.Sprintf("S%d", k), last), "TaskStateExited", history.Event{Name: "Get"})
			}
		}, most / 4},
		"loops of two turns": {func(add adder) {
			for k := range most / 2 {
				data := map[string]string{}
				for i := range 45 {
					data[fmt.Sprintf("m%d", i)] = fmt.Sprintf(`"<&%d`, k+i)
				}
				text, _ := json.Marshal(data) //nolint:errchkjson // texts
				name := fmt.Sprintf("N%d", k/2)
				add(add(1, "PassStateEntered", history.Event{Name: name, Input: "{}"}), "PassStateExited", history.Event{Name: name, Output: string(text)})
			}
		}, 0},
		"variables": {func(add adder) {
			for k := range most / 2 {
				add(add(1, "PassStateEntered", history.Event{Name: "N"}), "PassStateExited", history.Event{Name: "N", Assigned: map[string]string{"deadline": strconv.Itoa(1767225600000 + k)}})
			}
		}, 0},
		"odd types": {func(add adder) {
			for range most {
				text := strings.Repeat(`<&"`, 100)
				add(1, text, history.Event{Name: text, Cause: text, Error: text, Location: text, Resource: text})
			}
		}, 0},
	} {
		e := &history.Execution{Title: name, Status: history.StatusRunning, Start: time.Unix(0, 0), Stop: time.Unix(int64(most), 0)}
		add := func(previous int64, kind string, event history.Event) int64 {
			event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), previous, kind, time.Unix(int64(len(e.Events)), 0)
			event.Length = -1
			e.Events = append(e.Events, event)
			return event.ID
		}
		add(0, "ExecutionStarted", history.Event{Index: -1})
		kind.events(add)
		page, err := report.HTML(e, report.Options{})
		require.NoError(t, err)
		require.Less(t, len(page), mostPage, name)
		require.Equal(t, len(e.Events), strings.Count(string(page), "<tr id=e"), name)
		polls := 0
		for _, n := range countMarks(string(page)) {
			polls += n
		}
		require.Equal(t, kind.polls, polls, name)
	}
}

// adder adds an event behind another and returns its ID.
type adder func(previous int64, kind string, event history.Event) int64

// Texts from outside are text, wherever they stand.
func TestPageQuotesWhatIsHostile(t *testing.T) {
	t.Parallel()
	const evil = `</style></script><script>alert(1)</script><img src=x onerror=alert(1)>"'&\n` + "\x1b[31m\u202e\x00"
	quoted, err := json.Marshal(evil)
	require.NoError(t, err)
	text := string(quoted)
	events := []string{
		`{"id": 1, "type": "ExecutionStarted", "executionStartedEventDetails": {"input": ` + text + `}}`,
		`{"id": 2, "previousEventId": 1, "type": "TaskStateEntered", "stateEnteredEventDetails": {"name": ` + text + `, "input": ` + text + `}}`,
		`{"id": 3, "previousEventId": 2, "type": "TaskScheduled", "taskScheduledEventDetails": {"resourceType": "aws-sdk:athena", "resource": "getQueryExecution", "parameters": "{}", "region": ` + text + `}}`,
		`{"id": 4, "previousEventId": 3, "type": "TaskFailed", "taskFailedEventDetails": {"error": ` + text + `, "cause": ` + text + `}}`,
		`{"id": 5, "previousEventId": 4, "type": "TaskScheduled", "taskScheduledEventDetails": {"resourceType": "aws-sdk:athena", "resource": "getQueryExecution", "parameters": "{}"}}`,
		`{"id": 6, "previousEventId": 5, "type": "TaskSucceeded", "taskSucceededEventDetails": {"output": ` + mustQuote(t, `{"QueryExecution": {"Status": {"State": `+text+`}}}`) + `}}`,
		`{"id": 7, "previousEventId": 6, "type": "TaskStateExited", "stateExitedEventDetails": {"name": ` + text + `, "output": ` + text + `, "assignedVariables": {` + text + `: ` + text + `}}}`,
		`{"id": 8, "previousEventId": 7, "type": ` + text + `}`,
		`{"id": 9, "previousEventId": 8, "type": "ExecutionFailed", "executionFailedEventDetails": {"error": ` + text + `, "cause": ` + text + `}}`,
	}
	events = slices.Insert(events, 7,
		`{"id": 11, "previousEventId": 7, "type": "TaskStateEntered", "stateEnteredEventDetails": {"name": `+text+`}}`,
		`{"id": 12, "previousEventId": 11, "type": "TaskScheduled", "taskScheduledEventDetails": {"resourceType": `+text+`, "resource": `+text+`}}`,
		`{"id": 13, "previousEventId": 12, "type": "TaskFailed", "taskFailedEventDetails": {"error": `+text+`, "cause": `+text+`}}`)
	for i := range events {
		events[i] = fmt.Sprintf(`{"timestamp": %d, %s`, 1_700_000_000+10*i, events[i][1:])
	}
	e, err := history.Read([]byte(`{"events": [` + strings.Join(events, ",") + `]}`))
	require.NoError(t, err)
	e.Title = evil
	e.Notes = append(e.Notes, evil)
	m, err := asl.Parse([]byte(`{"Comment": ` + text + `, "StartAt": ` + text + `, "States": {` + text + `: {"Type": "Task", "Comment": ` + text +
		`, "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {}, "QueryLanguage": "JSONata", "End": true}}}`))
	if err == nil {
		e.Machine = m
	}
	page, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(page), "<script"), "our own")
	require.Equal(t, 1, strings.Count(string(page), "</script"))
	require.Zero(t, strings.Count(string(page), "<img"))
	for _, columns := range []int{80, 1000} {
		shown := report.Text(e, report.TextOptions{Columns: columns})
		require.NotContains(t, shown, "\x1b")
		require.NotContains(t, shown, "\u202e")
		require.NotContains(t, shown, "\x00")
	}
}

func mustQuote(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return string(quoted)
}

// Times that go back are shown as they are, on a terminal however narrow.
func TestTimesThatGoBack(t *testing.T) {
	t.Parallel()
	var events []string
	add := func(at, kind, details string) {
		events = append(events, fmt.Sprintf(`{"id": %d, "previousEventId": %d, "timestamp": "2026-01-01T%s:00Z", "type": %q, "anyEventDetails": %s}`,
			len(events)+1, len(events), at, kind, details))
	}
	add("01:00", "ExecutionStarted", `{}`)
	for _, at := range []string{"01:25", "01:20", "00:10"} {
		add(at, "TaskStateEntered", `{"name": "Get"}`)
		add(at, "TaskScheduled", `{"resourceType": "aws-sdk:athena", "resource": "getQueryExecution", "parameters": "{}"}`)
		add("01:30", "TaskSucceeded", `{"output": "{\"QueryExecution\": {\"Status\": {\"State\": \"RUNNING\"}}}"}`)
		add("00:05", "TaskStateExited", `{"name": "Get"}`)
	}
	add("02:10", "ExecutionSucceeded", `{}`)
	e, err := history.Read([]byte(`{"events": [` + strings.Join(events, ",") + `]}`))
	require.NoError(t, err)
	page, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"retry": 3}, countMarks(string(page)))
	require.Contains(t, string(page), "poll 3, -50m (00:10:00): RUNNING")
	require.NotContains(t, string(page), "+-")
	require.Zero(t, strings.Count(string(page), "every -"))
	require.Equal(t, "  +25m         01:25:00  3 times  RUNNING  Get", lineWith(t, report.Text(e, report.TextOptions{}), "3 times"))
	for _, columns := range []int{-1, 1, 2, 3} {
		require.NotEmpty(t, report.Text(e, report.TextOptions{Columns: columns}))
	}
}

// Thousands of iterations, nested and at once, each with a job of its own.
func TestPageOfManyIterations(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := &history.Execution{Title: "map", Status: history.StatusSucceeded, Start: at}
	add := func(previous int64, kind string, event history.Event) int64 {
		event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), previous, kind, at
		event.Index = -1
		event.Length = -1
		e.Events = append(e.Events, event)
		return event.ID
	}
	items := race.Of(1000, 400)
	large := strings.Repeat("x", 10_000)
	last := add(0, "MapStateEntered", history.Event{Name: "Each"})
	started := add(last, "MapStateStarted", history.Event{})
	open := make([]int64, items)
	for i := range open {
		open[i] = add(started, "MapIterationStarted", history.Event{Name: "Each"})
	}
	for range 3 {
		at = at.Add(5 * time.Second)
		for i := range open {
			open[i] = add(open[i], "TaskStateEntered", history.Event{Name: "Get", Input: large})
			open[i] = add(open[i], "TaskScheduled", history.Event{ResourceType: "aws-sdk:athena", Resource: "getQueryExecution", Parameters: `{"QueryExecutionId":"` + strconv.Itoa(i) + `"}`})
			open[i] = add(open[i], "TaskSucceeded", history.Event{Output: `{"QueryExecution":{"Status":{"State":"RUNNING"}}}`})
			open[i] = add(open[i], "TaskStateExited", history.Event{Name: "Get", Output: large + strconv.Itoa(i)})
		}
	}
	for i := range open {
		last = add(open[i], "MapIterationSucceeded", history.Event{Name: "Each"})
	}
	last = add(last, "MapStateSucceeded", history.Event{})
	add(last, "MapStateExited", history.Event{Name: "Each"})
	e.Stop = at
	require.Len(t, e.FindJobs(e.FindVisits()), items)
	page, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"retry": 3 * items}, countMarks(string(page)))
	require.Less(t, len(page), mostPage)
	for i := range items {
		require.Equal(t, 1, strings.Count(string(page), fmt.Sprintf(` id="job%d"`, i+1))+strings.Count(string(page), fmt.Sprintf(` id=job%d>`, i+1)), "each job has its place")
	}
	const drawn, unfolded = 300, 6
	require.Equal(t, drawn, strings.Count(string(page), `<a href="#job`), "each ribbon leads to its own job")
	require.Equal(t, 2, strings.Count(string(page), fmt.Sprintf("<summary>%d more jobs</summary>", drawn-unfolded)))
	require.Equal(t, 1, strings.Count(string(page), fmt.Sprintf("<summary>%d more jobs, a line each</summary>", items-drawn)))
	require.Less(t, len(draw(t, e)), 20<<10)
	require.Contains(t, report.Text(e, report.TextOptions{}), fmt.Sprintf("and %d more jobs", items-8))
}

// The histories that were recorded at AWS can all be shown.
func TestRecordedHistories(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("JOBPOLLER_CORPUS")
	if corpus == "" {
		corpus = "../../../shared/corpus"
	}
	files, err := filepath.Glob(filepath.Join(corpus, "asl-recordings/execution/*.json"))
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var recorded struct {
			Definition json.RawMessage `json:"definition"`
			Expect     struct {
				Status string           `json:"status"`
				Events []map[string]any `json:"events"`
			} `json:"expect"`
		}
		require.NoError(t, json.Unmarshal(text, &recorded), name)
		var events []map[string]any
		for _, event := range recorded.Expect.Events {
			kind, _ := event["type"].(string)
			details := map[string]any{}
			for _, member := range []string{"name", "resource", "resourceType", "error", "cause", "index", "length"} {
				if value, ok := event[member]; ok && fmt.Sprintf("%T", value) != "map[string]interface {}" {
					details[member] = value
				}
			}
			events = append(events, map[string]any{"id": event["id"], "previousEventId": event["previousEventId"], "type": kind, "anyEventDetails": details})
		}
		if len(events) == 0 {
			continue
		}
		body, err := json.Marshal(map[string]any{"events": events})
		require.NoError(t, err)
		e, err := history.Read(body)
		require.NoError(t, err, name)
		if recorded.Expect.Status != "" {
			require.Equal(t, recorded.Expect.Status, e.Status, name)
		}
		if m, err := asl.Parse(recorded.Definition); err == nil {
			e.Machine = m
		}
		for _, v := range e.FindVisits().All {
			require.False(t, e.HasEnded() && v.Open, name)
			require.NotEmpty(t, v.State, name)
		}
		_, err = report.HTML(e, report.Options{})
		require.NoError(t, err, name)
		require.NotEmpty(t, report.Text(e, report.TextOptions{Columns: 40}))
	}
}

// What a service says of an execution may be of any length: the report has the
// beginning of it.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 2<<20/5)
	e := &history.Execution{
		Title: long, Status: long, Start: time.Unix(0, 0), Stop: time.Unix(60, 0), Input: long, Output: long, Error: long, Cause: long,
		Notes: []string{long, long}, Region: long,
	}
	add := func(kind string, event history.Event) {
		event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), int64(len(e.Events)), kind, time.Unix(int64(len(e.Events)), 0)
		event.Index, event.Length = -1, -1
		e.Events = append(e.Events, event)
	}
	for i := range 3 {
		status := fmt.Sprintf(`{"QueryExecution": {"Status": {"State": "%d %s"}}}`, i, long)
		add("TaskStateEntered", history.Event{Name: long, Input: long})
		add("TaskScheduled", history.Event{ResourceType: "aws-sdk:athena", Resource: "getQueryExecution", Parameters: `{"QueryExecutionId":"` + long + `"}`, Region: long, Location: long})
		add("TaskSucceeded", history.Event{Output: status, Resource: long, ResourceType: long})
		add("TaskScheduled", history.Event{ResourceType: long, Resource: long, Parameters: long})
		add("TaskFailed", history.Event{Error: long, Cause: long})
		add("TaskStateExited", history.Event{Name: long, Output: long, Assigned: map[string]string{long: long}})
		add(long, history.Event{Name: long, Location: long})
	}
	page, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Less(t, len(page), 200<<10)
	text := report.Text(e, report.TextOptions{})
	require.Less(t, len(text), 40<<10)
	require.Contains(t, text, "2,097,150 bytes in all")
	require.Less(t, len(report.SVG(e)), 40<<10)
}

// Data that nests as deep as JSON may, and names as long as they may be, are
// compared in memory of about their size.
func TestNestedDataIsComparedInLittleMemory(t *testing.T) { //nolint:paralleltest // it measures what is allocated
	const turns = 6
	const most = 100 // bytes that are allocated for one of data
	for name, nest := range map[string]func(leaf int) string{
		"deep": func(leaf int) string {
			const depth = 9000
			return strings.Repeat(`{"a":[1,`, depth/2) + strconv.Itoa(leaf) + strings.Repeat(`]}`, depth/2)
		},
		"long names": func(leaf int) string {
			text := strconv.Itoa(leaf)
			for i := range 25 {
				text = fmt.Sprintf(`{"%s%d": {"x": %d, "of": %s}, "y": [1, 2, 3, 4, 5, 6, 7, 8]}`, strings.Repeat("n", 1000), i, leaf, text)
			}
			return text
		},
	} {
		e := &history.Execution{Title: name, Status: history.StatusFailed, Start: time.Unix(0, 0), Stop: time.Unix(100, 0)}
		add := func(kind string, event history.Event) {
			event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), int64(len(e.Events)), kind, time.Unix(int64(len(e.Events)), 0)
			event.Index, event.Length = -1, -1
			e.Events = append(e.Events, event)
		}
		size := 0
		for turn := range turns {
			text := nest(turn)
			size += len(text)
			for _, state := range []string{"Get", fmt.Sprintf("Other %d", turn)} {
				add("PassStateEntered", history.Event{Name: state, Input: "{}"})
				add("PassStateExited", history.Event{Name: state, Output: text})
			}
		}
		least := uint64(math.MaxUint64)
		for range 3 { // a collection on the way empties pools, which are filled anew
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page, err := report.HTML(e, report.Options{})
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Contains(t, string(page), "Changed", name)
			require.Contains(t, string(page), "<td>output.", name)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		require.Less(t, least, uint64(most*size), name)
	}
}
