// Package asl is the Amazon States Language as data: the types of a state
// machine definition, and a strict reader that reports every problem of a
// definition with its place.
//
// It covers the states Task, Wait, Choice, Pass, Succeed and Fail in JSONPath
// mode with reference paths. What it does not cover (Parallel, Map, JSONata,
// variables, intrinsic functions, other paths) it refuses where it stands.
//
// The rules are those of the specification (https://states-language.net/)
// and, where AWS is stricter, of the AWS Step Functions developer guide.
package asl

import (
	"time"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// Problems is everything that is wrong with a definition. It is the error of
// Parse: get at it with errors.As.
type Problems = diag.Problems

// Path is a reference path.
type Path = jsonpath.Path

// QueryLanguage is the language of the paths and expressions of a definition.
type QueryLanguage string

// JSONPath is the query language of a definition that names none.
const JSONPath QueryLanguage = "JSONPath"

// StateMachine is a state machine definition. Parse makes it; it is not to be
// changed.
type StateMachine struct {
	Flow
	Comment       string
	Version       string // "1.0"
	QueryLanguage QueryLanguage
	// TimeoutSeconds is how long an execution may run; 0 if there is no limit.
	TimeoutSeconds int64
}

// Flow is a graph of states with the state where it starts.
type Flow struct {
	StartAt string
	States  []*State // in the order of the definition

	index map[string]*State
}

// State returns the state of that name, or nil.
func (f *Flow) State(name string) *State { return f.index[name] }

// Type is the type of a state.
type Type string

// The types of state.
const (
	TypeTask    Type = "Task"
	TypeWait    Type = "Wait"
	TypeChoice  Type = "Choice"
	TypePass    Type = "Pass"
	TypeSucceed Type = "Succeed"
	TypeFail    Type = "Fail"
)

// Position is a place in the text of a definition.
type Position struct {
	Pointer string // RFC 6901
	Line    int    // from 1
	Column  int    // in characters, from 1
}

// State is a state. The detail that belongs to its Type is set; Succeed has
// none.
type State struct {
	Name     string
	Type     Type
	Comment  string
	Position Position // of the state's name

	// InputPath and OutputPath are "$" where the definition has none, and nil
	// where it has null, which stands for an empty object. Fail has neither.
	InputPath, OutputPath *Path

	// Next is the state that follows, empty if End is set and in the types
	// that have neither (Choice, Succeed, Fail).
	Next string
	End  bool

	Task   *Task
	Wait   *Wait
	Choice *Choice
	Pass   *Pass
	Fail   *Fail
}

// Task is the detail of a Task state.
type Task struct {
	Resource         string
	ResourcePosition Position
	Parameters       *Template // nil if there are none
	ResultSelector   *Template // nil if there is none
	ResultPath       *Path     // "$" by default; nil for null, which discards the result
	Retry            []Retrier
	Catch            []Catcher
	// TimeoutSeconds and HeartbeatSeconds are 0 where there is no limit. Each
	// excludes its path.
	TimeoutSeconds       int64
	TimeoutSecondsPath   *Path
	HeartbeatSeconds     int64
	HeartbeatSecondsPath *Path
}

// Wait is the detail of a Wait state. Exactly one member is set.
type Wait struct {
	Seconds       *int64
	Timestamp     *time.Time
	SecondsPath   *Path
	TimestampPath *Path
}

// Pass is the detail of a Pass state.
type Pass struct {
	Parameters *Template // nil if there are none
	HasResult  bool
	Result     any   // numbers are json.Number
	ResultPath *Path // "$" by default; nil for null, which discards the result
}

// Fail is the detail of a Fail state. Error excludes ErrorPath, and Cause
// CausePath.
type Fail struct {
	Error, Cause         string
	ErrorPath, CausePath *Path
}

// MaxSeconds is the largest time in seconds that a definition may hold, about
// three years.
const MaxSeconds = 99_999_999

// Retrier says how a Task is retried after the errors it names.
type Retrier struct {
	ErrorEquals     []string
	Comment         string
	IntervalSeconds int64   // before the first retry
	MaxAttempts     int64   // retries; 0: never
	BackoffRate     float64 // by which the interval grows with each retry
	MaxDelaySeconds int64   // cap of the interval; 0: none
	JitterStrategy  JitterStrategy
}

// JitterStrategy says how a retry interval is spread.
type JitterStrategy string

// The jitter strategies: FULL draws the interval between 0 and its value.
const (
	JitterNone JitterStrategy = "NONE"
	JitterFull JitterStrategy = "FULL"
)

// Catcher says where a Task goes on after the errors it names.
type Catcher struct {
	ErrorEquals []string
	Comment     string
	ResultPath  *Path // "$" by default; nil for null, which discards the error output
	Next        string
}

// The error names with a meaning of their own in ErrorEquals.
const (
	ErrorAll        = "States.ALL"
	ErrorTaskFailed = "States.TaskFailed"
	ErrorTimeout    = "States.Timeout"
)
