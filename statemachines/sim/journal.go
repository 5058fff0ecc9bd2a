package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Journal keeps what a World is told from outside, so that World.Replay can make the
// same World of it. An execution is a function of its start, the replies of its
// handlers, the answers to its Tasks and their times, so nothing else is kept.
type Journal interface {
	// Append keeps a record, which is JSON on one line, before what it tells of takes
	// effect. After an error the World is halted. Append is called by many goroutines.
	Append(record []byte) error
}

// recordKind is what a record tells of.
type recordKind string

const (
	startRecord     recordKind = "start"
	replyRecord     recordKind = "reply"     // of the handler of a call
	answerRecord    recordKind = "answer"    // to a Task that waits for one
	heartbeatRecord recordKind = "heartbeat" // of a Task
	handOutRecord   recordKind = "handout"   // of a Task to a worker of its activity
	missingRecord   recordKind = "missing"   // the activity of a Task
	stopRecord      recordKind = "stop"
	redriveRecord   recordKind = "redrive"
	skipRecord      recordKind = "skip"
	updateRecord    recordKind = "update" // of a Map Run
	endRecord       recordKind = "end"    // of an execution, or the entry of a Task, by a timer
	forgetRecord    recordKind = "forget"
	clockRecord     recordKind = "clock"
)

// record is a line of the journal.
type record struct {
	Kind   recordKind `json:"k"`
	Run    int64      `json:"r,omitempty"` // number of the execution, in the order of their starts
	At     time.Time  `json:"at"`
	Fired  int64      `json:"n,omitempty"` // timers of the run that had fired before
	Events int64      `json:"e,omitempty"` // of the run's own history before
	Number int        `json:"i,omitempty"` // of the call or the attempt in its run
	ARN    string     `json:"arn,omitempty"`

	Start *startData `json:"start,omitempty"`
	Reply *replyData `json:"reply,omitempty"`
	Name  string     `json:"name,omitempty"` // of an error, a state, or a worker
	Cause string     `json:"cause,omitempty"`

	Update *MapRunUpdate `json:"update,omitempty"`
}

// startData are the data of Options.
type startData struct {
	ARN          string          `json:"arn"`
	Execution    string          `json:"execution"`
	StateMachine string          `json:"machine"`
	Region       string          `json:"region"`
	Account      string          `json:"account"`
	Role         string          `json:"role"`
	VersionARN   string          `json:"version,omitempty"`
	AliasARN     string          `json:"alias,omitempty"`
	Express      bool            `json:"express,omitempty"`
	Sync         bool            `json:"sync,omitempty"`
	Lenient      bool            `json:"lenient,omitempty"`
	Seed         uint64          `json:"seed,omitempty"`
	StartTime    time.Time       `json:"startTime,omitzero"`
	MaxEvents    int             `json:"maxEvents,omitempty"`
	KeepEvents   int             `json:"keepEvents,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Text         string          `json:"text,omitempty"` // of the input, if it was written otherwise
	Note         json.RawMessage `json:"note,omitempty"`
}

func (r *run) startOf(arn string, input *Payload) *startData {
	o := &r.options
	text := ""
	if r.given != nil {
		text = string(r.given.JSON())
	}
	return &startData{
		ARN: arn, Execution: o.Execution, StateMachine: o.StateMachine, Region: o.Region, Account: o.Account, Role: o.Role,
		VersionARN: o.VersionARN, AliasARN: o.AliasARN, Express: o.Express, Sync: o.Sync, Lenient: o.Lenient, Seed: o.Seed,
		StartTime: o.StartTime, MaxEvents: o.MaxEvents, KeepEvents: o.KeepEvents, Input: input.JSON(), Text: text, Note: o.Note,
	}
}

func (d *startData) options() Options {
	return Options{
		ARN: d.ARN, Execution: d.Execution, StateMachine: d.StateMachine, Region: d.Region, Account: d.Account, Role: d.Role,
		VersionARN: d.VersionARN, AliasARN: d.AliasARN, Express: d.Express, Sync: d.Sync, Lenient: d.Lenient, Seed: d.Seed,
		StartTime: d.StartTime, MaxEvents: d.MaxEvents, KeepEvents: d.KeepEvents, Note: d.Note,
	}
}

// replyData are what a handler returned.
type replyData struct {
	Output         json.RawMessage `json:"output,omitempty"`
	Submitted      json.RawMessage `json:"submitted,omitempty"`
	Latency        time.Duration   `json:"latency,omitempty"`
	HeartbeatEvery time.Duration   `json:"heartbeat,omitempty"`
	Never          bool            `json:"never,omitempty"`
	Inside         bool            `json:"inside,omitempty"`
	Failed         *failedData     `json:"failed,omitempty"` // a *TaskError
	Error          string          `json:"error,omitempty"`  // any other
}

// mostReplyBytes bounds what the journal keeps of a reply: one that it does not take would
// be the last of the World.
const mostReplyBytes = 64 << 20

type failedData struct {
	Name      string          `json:"name,omitempty"`
	Cause     string          `json:"cause,omitempty"`
	Submitted json.RawMessage `json:"submitted,omitempty"`
	Latency   time.Duration   `json:"latency,omitempty"`
}

// replyOf is a reply as data. What is not JSON, or too large, is an error of the handler.
func replyOf(reply Reply, err error) (*replyData, Reply, error) {
	d := &replyData{Latency: reply.Latency, HeartbeatEvery: reply.HeartbeatEvery, Never: reply.Never, Inside: reply.Inside}
	failed, isTask := errors.AsType[*TaskError](err)
	text := func(value any) json.RawMessage {
		if value == nil {
			return nil
		}
		normal, wrong := normalize(value)
		if wrong != nil {
			isTask, err = false, errors.New("the reply of the handler is not JSON: "+wrong.Error())
			return nil
		}
		written := jsontree.AppendValue(nil, normal)
		if len(written) > mostReplyBytes {
			isTask, err = false, fmt.Errorf("the reply of the handler has %d bytes; a journal takes %d", len(written), mostReplyBytes)
			return nil
		}
		return written
	}
	d.Output, d.Submitted = text(reply.Output), text(reply.Submitted)
	if isTask {
		d.Failed = &failedData{Name: failed.Name, Cause: failed.Cause, Submitted: text(failed.Submitted), Latency: failed.Latency}
	}
	if err != nil && !isTask {
		d.Failed, d.Error = nil, err.Error()
		if d.Error == "" {
			d.Error = "the handler failed"
		}
	}
	return d, reply, err
}

// value is what replyOf was given.
func (d *replyData) value() (reply Reply, err error) {
	read := func(text json.RawMessage) any {
		if text == nil {
			return nil
		}
		value, wrong := decode(text)
		if wrong != nil {
			err = wrong
		}
		return value
	}
	reply = Reply{
		Output: read(d.Output), Submitted: read(d.Submitted), Latency: d.Latency, HeartbeatEvery: d.HeartbeatEvery, Never: d.Never, Inside: d.Inside,
	}
	switch {
	case err != nil:
	case d.Failed != nil:
		return reply, &TaskError{Name: d.Failed.Name, Cause: d.Failed.Cause, Submitted: read(d.Failed.Submitted), Latency: d.Failed.Latency}
	case d.Error != "":
		return reply, errors.New(d.Error)
	}
	return reply, err
}

// keep keeps what comes from outside to a run, before it takes effect. It reports false
// if the journal fails: then it must have none. Who calls it holds the actor's lock.
func (r *run) keep(rec record) bool {
	if !r.keepsJournal() {
		return true
	}
	rec.Run, rec.At, rec.Fired, rec.Events = r.number, r.now, r.fired, r.root.history.last()
	if !r.world.append(&rec) {
		return false
	}
	if rec.Kind != missingRecord { // a replay fires no timer for that
		r.kept = rec.Fired
	}
	return true
}

// keepTimers keeps that timers have fired, where no record tells of that yet: for what a
// replay must not do in another way. An execution that ends has cut off calls; made again,
// their replies could change what clients have seen.
func (r *run) keepTimers() {
	if r.fired > r.kept {
		r.keep(record{Kind: endRecord})
	}
}

// keepsJournal tells whether what comes from outside to the run is kept.
func (r *run) keepsJournal() bool {
	return r.world != nil && r.world.options.Journal != nil && r.replay == nil
}

// append writes a record.
func (w *World) append(rec *record) bool {
	rec.At = rec.At.UTC().Round(0)
	text, err := json.Marshal(rec)
	if err == nil {
		err = w.options.Journal.Append(text)
	}
	if err != nil {
		w.Halt(err)
	}
	return err == nil
}
