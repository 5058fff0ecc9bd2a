package page_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

// hostile are texts that end an element, an attribute, a script, a comment or a line of
// a stream, if they are not escaped.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</pre></textarea></title></style><script>alert(1)</script>`,
	`javascript:alert(1)`, "x\n\nevent: patch\ndata: {}", "\x00\u2028\xff", `{{template "head" .}}`, `--><script>alert(1)</script>`,
}

// tags are the elements that no text of the page's own has.
var tags = regexp.MustCompile(`(?i)<script>alert|<img|<svg onload|onerror=alert\(1\)>|href="javascript`)

// hostileWorld has a hostile text wherever a user can have one.
func hostileWorld(t *testing.T, text string) *fakeWorld {
	t.Helper()
	name, err := json.Marshal(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?"))
	require.NoError(t, err)
	definition := `{"Comment": ` + string(name) + `, "StartAt": ` + string(name) + `, "States": {` + string(name) + `: {"Type": "Task", "Resource": "` + export +
		`", "TimeoutSeconds": 9, "Parameters": {"ExportArn": ` + string(name) + `}, "Catch": [{"ErrorEquals": [` + string(name) + `], "Next": "End"}], "End": true}, "End": {"Type": "Pass", "Comment": ` +
		string(name) + `, "End": true}}}`
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	arn := prefix + "execution:" + text
	e := &history.Execution{
		Title: text, ARN: arn, Status: text, Start: start, Stop: start, Input: text, Output: text, Error: text, Cause: text, Machine: m, Region: text, Notes: []string{text},
		Events: []history.Event{
			{ID: 1, Type: "ExecutionStarted", Time: start, Input: text, Index: -1, Length: -1},
			{ID: 2, Previous: 1, Type: "TaskStateEntered", Time: start, Name: text, Input: text, Index: -1, Length: -1},
			{ID: 3, Previous: 2, Type: "TaskScheduled", Time: start, Resource: text, ResourceType: text, Parameters: text, Index: -1, Length: -1},
			{ID: 4, Previous: 3, Type: "TaskFailed", Time: start, Error: text, Cause: text, Index: -1, Length: -1},
			{ID: 5, Previous: 4, Type: "TaskStateExited", Time: start, Name: text, Output: text, Assigned: map[string]string{text: text}, Index: -1, Length: -1},
		},
	}
	d := &page.Detail{
		Run:     page.Run{ARN: arn, Name: text, Machine: text, MachineARN: machine, Status: history.StatusRunning, Start: start},
		History: e, Definition: definition, Version: 5, Reason: text,
		Places: []page.Place{{State: text, Type: asl.TypeTask, Entered: start, Until: start, Token: text, Input: text, Variables: text}},
	}
	ended := *d
	ended.ARN, ended.Status = arn+"2", history.StatusFailed
	return &fakeWorld{
		clock: page.Clock{Now: start}, runs: []*page.Detail{d, &ended},
		machines: []page.Machine{{ARN: machine, Name: text, Definition: definition}, {ARN: machine + "2", Name: text, Definition: text}},
		answers: map[string]json.RawMessage{
			"ListStateMachineVersions": json.RawMessage(`{"stateMachineVersions": [{"stateMachineVersionArn": ` + string(name) + `}]}`),
			"TestState":                json.RawMessage(`{"status": ` + string(name) + `, "output": ` + string(name) + `}`),
		},
	}
}

// Texts of users stay texts, on each page, in each stream and in each answer.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		w := hostileWorld(t, text)
		p := newPage(w)
		for _, reference := range []string{
			"", "?search=" + url.QueryEscape(text) + "&status=" + url.QueryEscape(text), run(w.runs[0].ARN), run(w.runs[1].ARN),
			"machine/" + url.PathEscape(machine), "machine/" + url.PathEscape(machine+"2"), "machine/" + url.PathEscape(machine) + "?from=" + url.QueryEscape(w.runs[0].ARN),
		} {
			code, body := get(t, p, reference)
			require.Equal(t, http.StatusOK, code, "%s of %q", reference, text)
			require.Empty(t, tags.FindString(body), "%s of %q", reference, text)
			require.Equal(t, 1, strings.Count(body, "<script>"), "%s of %q", reference, text)
		}
		answer := post(t, p, "machine/"+url.PathEscape(machine), url.Values{"state": {text}, "input": {text}, "mock": {text}})
		require.Empty(t, tags.FindString(answer.Body.String()))
		for _, action := range []string{"start", "rate", "advance", "token", "answer", "stop", "redrive"} {
			answer := post(t, p, "act/"+action, url.Values{"arn": {text}, "state": {text}, "rate": {text}, "by": {text}, "how": {text}, "output": {text}, "back": {text}})
			require.Empty(t, tags.FindString(answer.Body.String()), action)
			require.NotContains(t, answer.Header().Get("Location"), "javascript")
		}
		all, version := openStream(t, w, run(w.runs[0].ARN)+"/live", "").next()
		require.Equal(t, "5", version, "no line of the text is one of the stream")
		for _, part := range all {
			require.Empty(t, tags.FindString(part.HTML))
		}
	}
}
