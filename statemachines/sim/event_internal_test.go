package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever an event is given comes back, and its JSON is what encoding/json makes
// of the members.
func TestEventsKeepTheirDetails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var h history
		var given []Details
		for range 40 {
			d := randomDetails(r)
			given = append(given, d)
			h.add(r.Int64N(9), DefaultStart().Add(time.Duration(r.Int64N(1e15))), randomType(r), d)
		}
		events := h.after(0, 0)
		for i, e := range events {
			require.Equal(t, given[i], e.Details(), "%s", e.Type)
			want, err := encodeEvent(e)
			require.NoError(t, err)
			require.Equal(t, string(want), string(AppendEvent(nil, &e, EventFormat{})))
		}
		want, err := json.MarshalIndent(map[string]any{"events": events}, "", "  ")
		require.NoError(t, err)
		require.Equal(t, string(want), string(AppendHistory(nil, events, EventFormat{Indent: "  "})))
	}
}

func randomType(r *rand.Rand) EventType {
	types := []EventType{
		ExecutionStarted, ExecutionAborted, ActivityStarted, LambdaFunctionScheduled, MapIterationStarted, EvaluationFailed,
		"WaitStateEntered", "ChoiceStateExited", TaskScheduled, "Zoo<ö>", "",
	}
	return types[r.IntN(len(types))]
}

func randomDetails(r *rand.Rand) Details {
	texts := []string{"", "", "", "Wait a while", `"<&>\` + "\n\u2028\xff", "é\U0001F600"}
	text := func() string { return texts[r.IntN(len(texts))] }
	payload := func() *Payload {
		values := []any{nil, true, "<a>", json.Number("1.50"), []any{}, []any{"a", nil}, map[string]any{}, map[string]any{"b": []any{text()}, "<": text()}}
		if r.IntN(3) > 0 {
			return nil
		}
		return newPayload(values[r.IntN(len(values))])
	}
	number := func() *int {
		if r.IntN(4) > 0 {
			return nil
		}
		return new(r.IntN(1000))
	}
	var d Details
	sometimes := func(f func()) {
		if r.IntN(4) == 0 {
			f()
		}
	}
	sometimes(func() { d.Name = text() })
	sometimes(func() { d.Input, d.Output, d.Parameters = payload(), payload(), payload() })
	sometimes(func() { d.Resource, d.ResourceType, d.Region = text(), text(), text() })
	sometimes(func() { d.TimeoutInSeconds, d.HeartbeatInSeconds = r.Int64N(3), r.Int64N(3) })
	sometimes(func() { d.Error, d.Cause, d.State, d.Location = text(), text(), text(), text() })
	sometimes(func() { d.RoleArn = text() })
	sometimes(func() { d.MapRunArn, d.RedriveCount = text(), r.IntN(2) })
	sometimes(func() {
		d.TaskCredentials = newPayload(map[string]any{"roleArn": text(), "more": []any{map[string]any{}, "x", nil}})
	})
	sometimes(func() { d.Index = number() })
	sometimes(func() { d.Length = number() })
	sometimes(func() {
		d.AssignedVariables = map[string]*Payload{}
		for range r.IntN(3) {
			d.AssignedVariables[fmt.Sprint(r.IntN(20), text())] = newPayload(text())
		}
	})
	return d
}

// wireDetails are details with AWS's member names. Payloads are JSON text in
// a string.
type wireDetails struct {
	Name               string     `json:"name,omitempty"`
	Input              *string    `json:"input,omitempty"`
	InputDetails       *truncated `json:"inputDetails,omitempty"`
	Output             *string    `json:"output,omitempty"`
	OutputDetails      *truncated `json:"outputDetails,omitempty"`
	ResourceType       string     `json:"resourceType,omitempty"`
	Resource           string     `json:"resource,omitempty"`
	Region             string     `json:"region,omitempty"`
	Parameters         *string    `json:"parameters,omitempty"`
	TimeoutInSeconds   int64      `json:"timeoutInSeconds,omitempty"`
	HeartbeatInSeconds int64      `json:"heartbeatInSeconds,omitempty"`
	Error              string     `json:"error,omitempty"`
	Cause              string     `json:"cause,omitempty"`
	RoleArn            string     `json:"roleArn,omitempty"`
	MapRunArn          string     `json:"mapRunArn,omitempty"`
	Index              *int       `json:"index,omitempty"`
	Length             *int       `json:"length,omitempty"`
	RedriveCount       int        `json:"redriveCount,omitempty"`
	State              string     `json:"state,omitempty"`
	Location           string     `json:"location,omitempty"`

	TaskCredentials          json.RawMessage    `json:"taskCredentials,omitempty"`
	AssignedVariables        *map[string]string `json:"assignedVariables,omitempty"`
	AssignedVariablesDetails *truncated         `json:"assignedVariablesDetails,omitempty"`
}

type truncated struct {
	Truncated bool `json:"truncated"`
}

// encodeEvent writes the event in AWS's shape with encoding/json.
func encodeEvent(e Event) ([]byte, error) {
	members := map[string]any{
		"id": e.ID, "previousEventId": e.PreviousEventID, "timestamp": formatTime(e.Timestamp), "type": e.Type,
	}
	d := e.Details()
	wire := wireDetails{
		Name: d.Name, Input: textOf(d.Input), Output: textOf(d.Output), Parameters: textOf(d.Parameters),
		ResourceType: d.ResourceType, Resource: d.Resource, Region: d.Region,
		TimeoutInSeconds: d.TimeoutInSeconds, HeartbeatInSeconds: d.HeartbeatInSeconds,
		Error: d.Error, Cause: d.Cause, RoleArn: d.RoleArn, MapRunArn: d.MapRunArn, Index: d.Index, Length: d.Length,
		RedriveCount: d.RedriveCount, State: d.State, Location: d.Location,
	}
	if d.TaskCredentials != nil {
		wire.TaskCredentials = d.TaskCredentials.JSON()
	}
	if d.AssignedVariables != nil {
		texts := make(map[string]string, len(d.AssignedVariables))
		for name, value := range d.AssignedVariables {
			texts[name] = string(value.JSON())
		}
		wire.AssignedVariables, wire.AssignedVariablesDetails = &texts, &truncated{}
	}
	if d.Input != nil {
		wire.InputDetails = &truncated{}
	}
	if d.Output != nil {
		wire.OutputDetails = &truncated{}
	}
	text, err := json.Marshal(wire)
	if err != nil {
		return nil, err
	}
	if string(text) != "{}" || e.Type == ExecutionAborted || e.Type == ActivityStarted { // as AWS has it
		members[detailsName(e.Type)] = json.RawMessage(text)
	}
	return json.Marshal(members)
}

func textOf(p *Payload) *string {
	if p == nil {
		return nil
	}
	text := string(p.JSON())
	return &text
}

func TestHistoryGrowsByPieces(t *testing.T) {
	t.Parallel()
	var h history
	for i := range 5000 {
		h.add(int64(i), DefaultStart(), TaskStarted, Details{Resource: "describeExport"})
	}
	ids := func(events []Event) []int64 {
		var out []int64
		for _, e := range events {
			out = append(out, e.ID)
		}
		return out
	}
	require.EqualValues(t, 5000, h.last())
	require.Len(t, h.after(0, 0), 5000)
	require.Equal(t, []int64{16, 17, 18}, ids(h.after(15, 3)))
	require.Equal(t, []int64{4999, 5000}, ids(h.after(4998, 7)))
	require.Empty(t, h.after(5000, 1))
	require.Empty(t, h.after(9000, 0))

	h.seal(0, nil)
	h.add(5000, DefaultStart(), ExecutionRedriven, Details{})
	require.Equal(t, []int64{4999, 5000, 5001}, ids(h.after(4998, 0)), "it goes on where all is kept")
	require.Len(t, h.whole(), 5001)

	h.seal(2, nil)
	require.Equal(t, []int64{5000, 5001}, ids(h.whole()))
	require.Equal(t, []int64{5000, 5001}, ids(h.after(3, 0)))
	h.add(5001, DefaultStart(), ExecutionRedriven, Details{})
	h.seal(2, nil)
	require.Equal(t, []int64{5001, 5002}, ids(h.whole()), "the numbers go on")
	h.seal(KeepNoEvents, nil)
	require.Empty(t, h.whole())
	require.EqualValues(t, 5002, h.last())
	require.Empty(t, h.after(0, 0))
}

func TestEventFormats(t *testing.T) {
	t.Parallel()
	var h history
	e := h.add(0, DefaultStart().Add(1500*time.Millisecond), "PassStateExited", Details{
		Name: "P", Output: newPayload("<a>"), AssignedVariables: map[string]*Payload{"n": newPayload(json.Number("1"))},
	})
	//nolint:testifylint // to the byte
	require.Equal(t, `{"id":1,"previousEventId":0,"stateExitedEventDetails":{"name":"P","outputDetails":{"truncated":false},"assignedVariablesDetails":{"truncated":false}},`+
		`"timestamp":1767225601.500,"type":"PassStateExited"}`, string(AppendEvent(nil, e, EventFormat{EpochTimes: true, NoData: true})))
	require.JSONEq(t, `{"events":[]}`, string(AppendHistory(nil, nil, EventFormat{})))
	lines := strings.Split(string(AppendHistory(nil, []Event{*e}, EventFormat{Indent: " "})), "\n")
	require.Equal(t, []string{"{", ` "events": [`, "  {"}, slices.Clone(lines[:3]))
}
