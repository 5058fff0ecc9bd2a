package server

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// diagnostic is what AWS says of a definition.
type diagnostic struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Location string `json:"location,omitempty"`
}

const (
	schemaFailed   = "SCHEMA_VALIDATION_FAILED"
	missingTarget  = "MISSING_TRANSITION_TARGET"
	missingEnd     = "MISSING_END_STATE"
	invalidJSON    = "INVALID_JSON_DESCRIPTION"
	severityError  = "ERROR"
	severityWarned = "WARNING"
)

// wording gives a problem of package asl the code and the words of AWS. In a text, $1 is
// the first part of the pattern in parentheses, and {value} the string at the place. The texts are recorded, or were measured
// by others; where neither is known, asl's message stands under a code that is.
type wording struct {
	pattern *regexp.Regexp
	code    string
	text    string // empty: asl's
	parent  bool   // AWS names the value around it
}

const notRecognized = "The resource provided {value} is not recognized. The value is not a valid resource ARN, or the resource is not available in this region."

var wordings = sync.OnceValue(func() []wording {
	return []wording{
		{regexp.MustCompile(`^there is no state "(.*)"$`), missingTarget, "Missing 'Next' target: $1", false},
		{regexp.MustCompile(`^state "(.*)" cannot be reached from `), missingTarget, `State "$1" is not reachable.`, false},
		{regexp.MustCompile(`^no state ends the state machine`), missingEnd, "Workflow has no terminal state", false},
		{regexp.MustCompile(`^expected a state machine definition`), schemaFailed, notAnObject, false},
		{
			regexp.MustCompile(`^an Express workflow does not support "\.sync`), schemaFailed,
			"Express state machine does not support '.sync' service integration", false,
		},
		// AWS has two spaces behind this one.
		{
			regexp.MustCompile(`^an Express workflow does not support "\.waitForTaskToken`), schemaFailed,
			"Express state machine does not support '.waitForTaskToken' service integration ", false,
		},
		{regexp.MustCompile(`^an Express workflow does not support activities`), schemaFailed, "Express state machine does not support Activity ARN", false},
		{
			regexp.MustCompile(`^an Express workflow cannot have a distributed Map`), schemaFailed,
			"The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines", false,
		},
		{
			regexp.MustCompile(`^unknown state type `), schemaFailed,
			"The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map]", false,
		},
		{regexp.MustCompile(`must hold at least one (?:item|state)$`), schemaFailed, "Value cannot be empty", false},
		{regexp.MustCompile(`^expected an RFC 3339 timestamp`), schemaFailed, "String does not match RFC3339 timestamp", false},
		{
			regexp.MustCompile(`^a state cannot use JSONPath if the state machine uses JSONata`), schemaFailed,
			"'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine", true,
		},
		{
			regexp.MustCompile(`^a call of .* needs the field "(\w+)"; for a call without`), schemaFailed,
			"$1 field is required for resource ARN: {value}", false,
		},
		{regexp.MustCompile(`^"Credentials" needs the field "(.*)"$`), schemaFailed, "The field '$1' is required but was missing", false},
		{regexp.MustCompile(`^[\w-]+:\w+ needs the field "(.*)"$`), schemaFailed, "The field '$1' is required but was missing", false},
		{regexp.MustCompile(`^[\w-]+:\w+ has no field "(.*)"$`), schemaFailed, `The field "$1" is not supported by Step Functions`, true},
		{regexp.MustCompile(`^unknown field "(.*)" in `), schemaFailed, "Field '$1' is not supported", true},
		{regexp.MustCompile(`^field "(.*)" (?:is not allowed in|belongs to) `), schemaFailed, "Field '$1' is not supported", true},
		{regexp.MustCompile(`^state ".*" has both "Next" and "End"`), schemaFailed, "There should only be one of the following fields: [Next, End]", false},
		{
			regexp.MustCompile(`^state ".*" needs "Next" or "End"`), schemaFailed,
			"This object should have only one of the following fields: [Next, End]", false,
		},
		{regexp.MustCompile(`^"(\w+)" and "(\w+)" exclude each other`), schemaFailed, "There should only be one of the following fields: [$1, $2]", true},
		{regexp.MustCompile(`^"\w+" must be an integer from (\d+) to \d+, found a number \((?:-\d+|0)\)`), schemaFailed, "Minimum value is $1", false},
		{regexp.MustCompile(`^"\w+" must be an integer from \d+ to (\d+), found a number \(\d+\)`), schemaFailed, "Maximum value is $1", false},
		{regexp.MustCompile(`^"\w+" must be an integer from `), schemaFailed, "Expected value of type Integer", false},
		{regexp.MustCompile(`^"States.ALL" must be `), schemaFailed, "States.ALL must appear alone and at end of list", false},
		{regexp.MustCompile(`^expected the jitter strategy`), schemaFailed, "Value should be one of the following: [NONE, FULL]", false},
		{regexp.MustCompile(`^an AWS SDK integration cannot be called with `), schemaFailed, notRecognized, false},
		{regexp.MustCompile(`^the (?:service|action) of an AWS SDK integration `), schemaFailed, notRecognized, false},
		{regexp.MustCompile(`^(?:there is no integration|the integration "|expected the ARN of a )`), schemaFailed, notRecognized, false},
		{regexp.MustCompile(`^[\w-]+:\w+ cannot be called with `), schemaFailed, notRecognized, false},
		{regexp.MustCompile(`^another state has the name `), "DUPLICATE_STATE_NAME", "", false},
		{regexp.MustCompile(`^a state name has `), "INVALID_STATE_NAME", "", false},
		{regexp.MustCompile(`^"Label" has at most `), "INVALID_LABEL_NAME", "", false},
		{regexp.MustCompile(`^there is another Map with the label `), "DUPLICATE_LABEL_NAME", "", false},
		{regexp.MustCompile(`^the name "states" is reserved`), "RESERVED_VARIABLE_NAME", "", false},
		{regexp.MustCompile(` is not the name of a variable`), "INVALID_VARIABLE_NAME", "", false},
		{
			regexp.MustCompile(`^"(\w+)" begins a path, and expressions`), "UNSUPPORTED_JSONATA_EXPRESSION",
			"Reference to '$1' at the top level is not supported.", false,
		},
		{regexp.MustCompile(`^JSONata: `), "INVALID_JSONATA_EXPRESSION", "", false},
	}
})

// value stands for the string at the place of a problem.
const value = "{value}"

// computed is a problem of a field whose name says that its value is computed.
var computed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/.*/((?:[^/])*\.\$)$`) })

// missingField is a field that an object of the language must have.
var missingField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:a|an|the) .*needs the field "(\w+)"$`) })

// diagnose says in AWS's words what is wrong in a definition.
func diagnose(text string, problems diag.Problems) []diagnostic {
	out := []diagnostic{}
	fields := map[string]int{} // the diagnostic of the fields that miss in a value
	ended := !slices.ContainsFunc(problems, func(p diag.Problem) bool { return strings.HasPrefix(p.Message, "no state ends the state machine") })
	doc, err := jsontree.Parse([]byte(text))
	for _, p := range problems {
		d := diagnostic{Severity: severityError, Code: schemaFailed, Message: p.Message, Location: location(p.Pointer)}
		if p.Severity != diag.Error {
			d.Severity = severityWarned
		}
		if m := missingField().FindStringSubmatch(p.Message); m != nil && d.Severity == severityError {
			if i, ok := fields[p.Pointer]; ok {
				out[i].Message = strings.Replace(out[i].Message, "[", "["+m[1]+", ", 1)
				continue
			}
			fields[p.Pointer] = len(out)
			d.Message = "These fields are required: [" + m[1] + "]"
			out = append(out, d)
			continue
		}
		d.reword(p)
		if err == nil && strings.Contains(d.Message, value) {
			d.Message = strings.Replace(d.Message, value, doc.Root.Nearest(p.Pointer).Text, 1)
		}
		if !ended && d.Code == missingTarget && strings.HasSuffix(d.Message, "is not reachable.") {
			continue
		}
		out = append(out, d)
	}
	// AWS looks for the end of the machine last.
	slices.SortStableFunc(out, func(a, b diagnostic) int { return rank(a) - rank(b) })
	return out
}

func rank(d diagnostic) int {
	switch {
	case d.Severity != severityError:
		return 2 //nolint:mnd // behind all errors
	case d.Code == missingEnd:
		return 1
	default:
		return 0
	}
}

// reword gives the diagnostic of a problem AWS's words, where they are known.
func (d *diagnostic) reword(p diag.Problem) {
	if m := computed().FindStringSubmatch(p.Pointer); m != nil {
		d.Message = "The value for the field '" + unescape(m[1]) + "' must be a valid JSONPath or a valid intrinsic function call"
		d.Location = location(parentOf(p.Pointer))
		return
	}
	for _, w := range wordings() {
		m := w.pattern.FindStringSubmatchIndex(p.Message)
		if m == nil {
			continue
		}
		d.Code = w.code
		if w.text != "" {
			d.Message = string(w.pattern.ExpandString(nil, w.text, p.Message, m))
		}
		if w.parent {
			d.Location = location(parentOf(p.Pointer))
		}
		if w.code == missingEnd || w.text == notAnObject {
			d.Location = ""
		}
		return
	}
}

func parentOf(pointer string) string { return pointer[:max(0, strings.LastIndexByte(pointer, '/'))] }

var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

func unescape(step string) string { return unescaper.Replace(step) }

// index is a place in one of the language's lists, in a JSON pointer.
var index = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(Choices|Catch|Retry|Branches|And|Or|ErrorEquals|Items|CSVHeaders)/(\d+)`)
})

// location is how AWS names a place in a definition.
func location(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return unescape(index().ReplaceAllString(pointer, "/$1[$2]"))
}
