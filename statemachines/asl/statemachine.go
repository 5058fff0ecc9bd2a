// Package asl is the Amazon States Language as data. It has the types of a state
// machine definition, a strict reader that reports every problem of a definition
// with its place, and a canonical writer.
//
// It covers the whole language in both query languages, JSONPath and JSONata.
// The rules are those of the specification (https://states-language.net/)
// and, where AWS is stricter, of the AWS Step Functions developer guide.
package asl

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// QueryLanguage is the language of the paths and expressions of a state.
type QueryLanguage string

// The query languages. A definition that names none is in JSONPath.
const (
	JSONPath QueryLanguage = "JSONPath"
	JSONata  QueryLanguage = "JSONata"
)

// StateMachine is a state machine definition. Parse makes it; it is not to be
// changed.
type StateMachine struct {
	Flow
	Comment       string
	Version       string // "1.0" or empty
	QueryLanguage QueryLanguage
	// TimeoutSeconds is how long an execution may run; 0 if there is no limit.
	TimeoutSeconds int64
	// OpenTimeout is set if a placeholder stands for TimeoutSeconds, which is 0 then.
	OpenTimeout bool
	// Placeholders are the names in "${Name}" that AWS SAM or the CDK put
	// values in for, in the order of the text. A definition that has any can be
	// checked and drawn but not run: see Substitute.
	Placeholders []Placeholder
	// Deployed is set if AWS has the definition: a "${Name}" in it is a text like others.
	Deployed bool

	root      *jsontree.Node
	text      []byte
	canonical *canonical
	places    map[string]*State // every state, by its pointer
}

// Flow is a graph of states with the state where it starts.
type Flow struct {
	StartAt string
	States  []*State // in the order of the definition
	// Open is set if a placeholder stands for a rule, a target or a list of them, so
	// that the states may lead to others than they say.
	Open bool

	index map[string]*State
}

// State returns the state of that name, or nil.
func (f *Flow) State(name string) *State { return f.index[name] }

// Type is the type of a state.
type Type string

// The types of state.
const (
	TypeTask     Type = "Task"
	TypeWait     Type = "Wait"
	TypeChoice   Type = "Choice"
	TypePass     Type = "Pass"
	TypeSucceed  Type = "Succeed"
	TypeFail     Type = "Fail"
	TypeParallel Type = "Parallel"
	TypeMap      Type = "Map"
)

// State is a state. The detail that belongs to its Type is set; Succeed has
// none. The fields of the other query language are empty.
type State struct {
	Name          string
	Type          Type
	Comment       string
	Position      Position // of the state's name
	QueryLanguage QueryLanguage

	// In JSONPath mode InputPath and OutputPath are "$" where the definition
	// has none, and nil where it has null, which stands for an empty object.
	// Fail has neither.
	InputPath, OutputPath *jsonpath.Path
	// Parameters (JSONPath) and Arguments (JSONata) are what a Task, Parallel,
	// Pass (Parameters only) or, in its old form, Map works on; nil if there
	// are none.
	Parameters, Arguments *Template
	// ResultSelector and ResultPath are of Task, Parallel, Map and, ResultPath
	// only, Pass in JSONPath mode. ResultPath is "$" by default and nil for
	// null, which discards the result.
	ResultSelector *Template
	ResultPath     *jsonpath.Path
	// Output is the output of any state but Fail in JSONata mode; nil if there
	// is none.
	Output *Template
	// Assign sets variables, in any state but Succeed and Fail; nil if there is
	// none.
	Assign *Template
	// Retry and Catch are of Task, Parallel and Map.
	Retry []Retrier
	Catch []Catcher

	// Next is the state that follows, empty if End is set and in the types
	// that have neither (Choice, Succeed, Fail).
	Next string
	End  bool

	Task     *Task
	Wait     *Wait
	Choice   *Choice
	Pass     *Pass
	Fail     *Fail
	Parallel *Parallel
	Map      *Map

	variables map[string]bool
	node      *jsontree.Node
	offset    int // of the name
}

// Variables returns the variables that the state's own fields read, sorted;
// not those of the states inside of it.
func (s *State) Variables() []string { return slices.Sorted(maps.Keys(s.variables)) }

// Task is the detail of a Task state.
type Task struct {
	Resource         string
	ResourcePosition Position
	// TimeoutSeconds and HeartbeatSeconds are nil where there is no limit.
	TimeoutSeconds, HeartbeatSeconds *Scalar
	// Credentials is what the role of the call comes from; nil if the
	// execution's own role makes it.
	Credentials *Template
}

// Wait is the detail of a Wait state. Exactly one member is set.
type Wait struct {
	Seconds   *Scalar // an int64
	Timestamp *Scalar // a time.Time
}

// Pass is the detail of a Pass state.
type Pass struct {
	HasResult bool
	Result    any // numbers are json.Number
}

// Fail is the detail of a Fail state.
type Fail struct {
	Error, Cause *Scalar // a string; nil if there is none
}

// Parallel is the detail of a Parallel state.
type Parallel struct {
	Branches []*Flow
}

// Map is the detail of a Map state.
type Map struct {
	// Processor is what each item goes through.
	Processor *Flow
	// Legacy tells that the processor is an Iterator, the field's old name.
	Legacy bool
	// Distributed is set if the items are processed by child executions.
	Distributed   bool
	ExecutionType ExecutionType // of the child executions
	Label         string

	ItemsPath      *jsonpath.Path // "$" by default in JSONPath mode
	Items          *Template      // in JSONata mode; nil: the state's input
	ItemSelector   *Template
	MaxConcurrency *Scalar // an int64; nil or 0: no limit of its own

	ItemBatcher  *ItemBatcher
	ItemReader   *ItemReader
	ResultWriter *ResultWriter

	ToleratedFailureCount      *Scalar // an int64
	ToleratedFailurePercentage *Scalar // a float64
}

// ExecutionType is the type of the child executions of a distributed Map.
type ExecutionType string

// The execution types.
const (
	Standard ExecutionType = "STANDARD"
	Express  ExecutionType = "EXPRESS"
)

// ItemBatcher puts several items of a distributed Map into one child execution.
type ItemBatcher struct {
	MaxItemsPerBatch      *Scalar // an int64
	MaxInputBytesPerBatch *Scalar // an int64
	BatchInput            *Template
}

// ItemReader reads the items of a distributed Map from elsewhere.
type ItemReader struct {
	Resource         string
	ResourcePosition Position
	// Parameters (JSONPath) or Arguments (JSONata) say what is read.
	Parameters *Template
	Config     ReaderConfig
}

// ReaderConfig says how items are read.
type ReaderConfig struct {
	InputType         string // "CSV", "JSON", "JSONL", "PARQUET", "MANIFEST" or empty
	CSVHeaderLocation string
	CSVHeaders        []string
	CSVDelimiter      string
	ManifestType      string
	Transformation    string
	ItemsPointer      string
	MaxItems          *Scalar // an int64
}

// ResultWriter writes the results of a distributed Map elsewhere.
type ResultWriter struct {
	Resource         string // empty if results are only transformed
	ResourcePosition Position
	Parameters       *Template
	Transformation   string
	OutputType       string
}

// Retrier says how a state is retried after the errors it names.
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

// Catcher says where a state goes on after the errors it names.
type Catcher struct {
	ErrorEquals []string
	Comment     string
	ResultPath  *jsonpath.Path // JSONPath: "$" by default; nil for null, which discards the error output
	Output      *Template      // JSONata
	Assign      *Template
	Next        string
}

// The error names with a meaning of their own in ErrorEquals.
const (
	ErrorAll        = "States.ALL"
	ErrorTaskFailed = "States.TaskFailed"
	ErrorTimeout    = "States.Timeout"
	// ErrorRuntime is that of a path that selects nothing, which no Retry or Catch takes, and
	// ErrorQueryEvaluation that of an expression, which $error raises, too.
	ErrorRuntime         = "States.Runtime"
	ErrorQueryEvaluation = "States.QueryEvaluationError"
)

// Flows returns the flows inside of a state: the branches of a Parallel, the
// processor of a Map.
func (s *State) Flows() []*Flow {
	switch {
	case s.Parallel != nil:
		return s.Parallel.Branches
	case s.Map != nil:
		return []*Flow{s.Map.Processor}
	default:
		return nil
	}
}

// All calls yield with every state of the flow and of the flows inside of it,
// each state before those inside of it.
func (f *Flow) All(yield func(*State) bool) {
	f.all(yield)
}

func (f *Flow) all(yield func(*State) bool) bool {
	for _, s := range f.States {
		if !yield(s) {
			return false
		}
		for _, inner := range s.Flows() {
			if !inner.all(yield) {
				return false
			}
		}
	}
	return true
}

// Transition is a way from one state to another of the same flow.
type Transition struct {
	To   string
	Kind TransitionKind
	// Rule is the number of the choice rule or catcher, from 0.
	Rule int
}

// TransitionKind says what leads from a state to another.
type TransitionKind uint8

// The kinds of transition.
const (
	TransitionNext TransitionKind = iota
	TransitionRule
	TransitionDefault
	TransitionCatch
)

// Transitions returns the ways out of the state in the order of the
// definition: Next or the rules and the default, then the catchers.
func (s *State) Transitions() []Transition {
	var out []Transition
	if s.Next != "" {
		out = append(out, Transition{To: s.Next})
	}
	if s.Choice != nil {
		for i, r := range s.Choice.Rules {
			out = append(out, Transition{To: r.Next, Kind: TransitionRule, Rule: i})
		}
		if s.Choice.Default != "" {
			out = append(out, Transition{To: s.Choice.Default, Kind: TransitionDefault})
		}
	}
	for i, c := range s.Catch {
		out = append(out, Transition{To: c.Next, Kind: TransitionCatch, Rule: i})
	}
	return out
}
