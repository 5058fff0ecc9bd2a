package page

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// machineView is the page of a state machine.
type machineView struct {
	frame

	Machine

	Input    string // of the form that starts an execution
	Lines    []line
	Findings int
	Problem  string
	Picture  template.HTML
	States   []choice
	Test     testView
	Versions []versionView
}

// line is a line of the definition, with what the rules found there.
type line struct {
	Number   int
	Text     string
	Findings []findingView
}

type findingView struct{ Severity, Rule, Message string }

// testView is the form that tests one state, and the answer.
type testView struct {
	State, Input, Mock, Answer, Status, Mood string
}

type versionView struct{ Number, Created string }

// mostLines is how many lines of a definition the page shows.
const mostLines = 5_000

func (q *request) showMachine() error {
	v, err := q.newMachineView()
	if err != nil {
		return err
	}
	q.render(http.StatusOK, "machine", v)
	return nil
}

func (q *request) newMachineView() (*machineView, error) {
	m, found := q.o.World.Machine(q.r.PathValue("arn"))
	if !found {
		return nil, errNoMachine
	}
	v := &machineView{frame: q.frame(m.Name, ""), Machine: *m, Input: "{}"}
	v.Here = q.machinePath(m.ARN)
	if from := q.r.URL.Query().Get("from"); from != "" {
		if d, found := q.o.World.Run(from); found {
			v.Input = d.History.Input
		}
	}
	text := m.Definition
	parsed, err := asl.Parse([]byte(text))
	findings := map[int][]findingView{}
	switch {
	case err != nil:
		v.Problem = err.Error()
	default:
		o := lint.Options{Express: m.Express}
		if q.o.Models != nil {
			if o.Types, err = typecheck.New(parsed, typecheck.Options{Models: q.o.Models}); err != nil {
				v.Problem = err.Error()
			}
		}
		for _, f := range lint.Check(parsed, o) {
			findings[f.Line] = append(findings[f.Line], findingView{f.Severity.String(), f.Rule, f.Message})
			v.Findings++
		}
		v.Picture = template.HTML(graph.New(parsed, graph.Options{}).SVG()) //nolint:gosec // graph escapes what it writes
		for s := range parsed.All {
			v.States = append(v.States, choice{Value: s.Name})
		}
	}
	v.Lines = splitLines(text, findings)
	v.Versions = q.listVersions(m.ARN)
	return v, nil
}

// splitLines numbers the lines of a definition. What was found at no line is at the
// first.
func splitLines(text string, findings map[int][]findingView) []line {
	var all []line
	for part := range strings.Lines(text) {
		n := len(all) + 1
		if n > mostLines {
			all = append(all, line{Text: "…"})
			break
		}
		l := line{Number: n, Text: strings.TrimRight(part, "\r\n"), Findings: findings[n]}
		if n == 1 {
			l.Findings = slices.Concat(findings[0], l.Findings)
		}
		all = append(all, l)
	}
	return all
}

// listVersions lists the versions, the newest first; none if the API cannot say.
func (q *request) listVersions(arn string) []versionView {
	const most = 1_000 // of a list, and of a state machine
	out, err := q.o.World.Call(q.r.Context(), arn, "ListStateMachineVersions", map[string]any{"stateMachineArn": arn, "maxResults": most})
	if err != nil {
		return nil
	}
	var listed struct {
		Versions []struct {
			ARN     string  `json:"stateMachineVersionArn"`
			Created float64 `json:"creationDate"`
		} `json:"stateMachineVersions"`
	}
	if json.Unmarshal(out, &listed) != nil {
		return nil
	}
	var all []versionView
	for _, v := range listed.Versions {
		all = append(all, versionView{Number: v.ARN[strings.LastIndexByte(v.ARN, ':')+1:], Created: formatSeconds(v.Created)})
	}
	return all
}

// testState tests a state with the API's TestState, and shows the answer below the form.
func (q *request) testState() error {
	v, err := q.newMachineView()
	if err != nil {
		return err
	}
	v.Test = testView{State: q.field("state"), Input: q.field("input"), Mock: q.field("mock")}
	for i := range v.States {
		v.States[i].Chosen = v.States[i].Value == v.Test.State
	}
	input := map[string]any{"definition": v.Definition, "stateName": v.Test.State, "inspectionLevel": "DEBUG"}
	if text := strings.TrimSpace(v.Test.Input); text != "" {
		input["input"] = text
	}
	if text := strings.TrimSpace(v.Test.Mock); text != "" {
		input["mock"] = map[string]string{"result": text}
	}
	out, err := q.o.World.Call(q.r.Context(), v.ARN, "TestState", input)
	if err != nil {
		v.Test.Status, v.Test.Mood, v.Test.Answer = "refused", "bad", err.Error()
	} else {
		v.Test.read(out)
	}
	q.render(http.StatusOK, "machine", v)
	return nil
}

// read takes in the answer of TestState.
func (t *testView) read(answer json.RawMessage) {
	var said struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(answer, &said) != nil {
		return
	}
	t.Status, t.Mood = said.Status, "bad"
	if said.Status == "SUCCEEDED" {
		t.Mood = "good"
	}
	var b bytes.Buffer
	if json.Indent(&b, answer, "", "  ") == nil {
		t.Answer = b.String()
	}
}

func formatSeconds(seconds float64) string { return formatTime(time.UnixMilli(int64(seconds * 1000))) }
