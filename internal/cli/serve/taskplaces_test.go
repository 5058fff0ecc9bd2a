package serve

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// Who can answer a Task, from the one that counts most.
const (
	byMockOfState = 1 << iota
	byFunction
	byMockOfResource
	byLambdaEndpoint
	byEndpoint
	bySimulatedJob
	bySomebody
)

var answererName = map[int]string{
	byMockOfState: "the mock of the state", byFunction: "the function", byMockOfResource: "the mock of the resource",
	byLambdaEndpoint: "the endpoint of Lambda", byEndpoint: "the endpoint of all", bySimulatedJob: "a simulated job", 0: "nobody",
}

// taskForm is a state that calls something.
type taskForm struct {
	state, resource string
	answer          string // of a mock
	can             int    // who can answer it
}

// definition has the state. Run refuses functions that no Task invokes: if this one does
// not invoke f, another does, which is never reached.
func (f taskForm) definition(named int) string {
	if named&byFunction == 0 || f.can&byFunction != 0 {
		return `{"StartAt": "A", "States": {"A": {` + f.state + `, "End": true}}}`
	}
	return `{"StartAt": "C", "States": {"C": {"Type": "Choice", "Choices": [{"Variable": "$.f", "IsPresent": true, "Next": "F"}], "Default": "A"},
		"F": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": {}}, "End": true},
		"A": {` + f.state + `, "End": true}}}`
}

// findAnswerer is the name of who of the named ones answers the form.
func (f taskForm) findAnswerer(named int) string {
	for who := byMockOfState; who < bySomebody; who <<= 1 {
		if named&f.can&who != 0 {
			return answererName[who]
		}
	}
	return answererName[0]
}

const (
	byAnyCall   = byMockOfState | byMockOfResource | byEndpoint | bySimulatedJob // or a drawn answer
	byAnyLambda = byAnyCall | byLambdaEndpoint
)

var taskForms = map[string]taskForm{
	"lambda:invoke": {
		`"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": {}}`,
		"arn:aws:states:::lambda:invoke", `{"Payload": %q}`, byAnyLambda | byFunction,
	},
	"lambda:invoke of an ARN": {
		`"Type": "Task", "Resource": "arn:aws-cn:states:::lambda:invoke", "Parameters": {"FunctionName": "arn:aws-cn:lambda:cn-north-1:123456789012:function:f:live", "Payload": {}}`,
		"arn:aws-cn:states:::lambda:invoke", `{"Payload": %q}`, byAnyLambda | byFunction,
	},
	"lambda:invoke of another": {
		`"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "g", "Payload": {}}`,
		"arn:aws:states:::lambda:invoke", `{"Payload": %q}`, byAnyLambda,
	},
	"function": {
		`"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f:7"`,
		"arn:aws:lambda:us-east-1:123456789012:function:f:7", `%q`, byAnyLambda | byFunction,
	},
	"function of another partition": {
		`"Type": "Task", "Resource": "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:f"`,
		"arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:f", `%q`, byAnyLambda | byFunction,
	},
	"another function": {
		`"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:g"`,
		"arn:aws:lambda:us-east-1:123456789012:function:g", `%q`, byAnyLambda,
	},
	"aws-sdk:lambda:invoke": {
		`"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:lambda:invoke", "Parameters": {"FunctionName": "f"}`,
		"arn:aws:states:::aws-sdk:lambda:invoke", `{"Payload": %q}`, byAnyLambda,
	},
	"sqs:sendMessage": {
		`"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "MessageBody": "m"}`,
		"arn:aws:states:::sqs:sendMessage", `{"MessageId": %q}`, byAnyCall,
	},
	"aws-sdk:athena": {
		`"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "12345678-1234-1234-1234-123456789012"}`,
		"arn:aws:states:::aws-sdk:athena:getQueryExecution", `{"QueryExecution": {"Query": %q}}`, byAnyCall,
	},
	"ItemReader": {
		`"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"}, "Parameters": {"Bucket": "bucket", "Key": "k"}},
			"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`,
		"arn:aws:states:::s3:getObject", `[%q]`, byAnyCall,
	},
}

// answerers are servers that note which of them a Task calls.
type answerers struct {
	urls map[int]string

	mu    sync.Mutex
	asked []string
}

func newAnswerers(t *testing.T) *answerers {
	t.Helper()
	a := &answerers{urls: map[int]string{}}
	for _, who := range []int{byFunction, byLambdaEndpoint, byEndpoint} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.asked = append(a.asked, answererName[who])
			if r.Method == http.MethodGet { // an object
				_, _ = io.WriteString(w, `["item"]`)
				return
			}
			_, _ = io.WriteString(w, `{}`)
		}))
		t.Cleanup(s.Close)
		a.urls[who] = s.URL
	}
	return a
}

// flags are those that name some of who can answer a form.
func (a *answerers) flags(t *testing.T, form taskForm, named int) []string {
	t.Helper()
	var flags, mocks []string
	for who, name := range map[int]string{byMockOfState: "A", byMockOfResource: form.resource} {
		if named&who != 0 {
			mocks = append(mocks, fmt.Sprintf(`%q: {"return": %s}`, name, fmt.Sprintf(form.answer, answererName[who])))
		}
	}
	if len(mocks) > 0 {
		flags = append(flags, "--mocks", clitest.WriteFile(t, "mocks.json", "{"+strings.Join(mocks, ",")+"}"))
	}
	for who, value := range map[int]string{byFunction: "--lambda=f=", byLambdaEndpoint: "--endpoint-url=lambda=", byEndpoint: "--endpoint-url="} {
		if named&who != 0 {
			flags = append(flags, value+a.urls[who])
		}
	}
	if named&bySimulatedJob != 0 {
		flags = append(flags, "--simulate", "10m")
	}
	return flags
}

// takeAsked returns who has answered a machine that did well or not, and forgets it.
func (a *answerers) takeAsked(well bool, shown string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.asked = nil }()
	for _, mocked := range []int{byMockOfState, byMockOfResource} {
		if strings.Contains(shown, answererName[mocked]) {
			a.asked = append(a.asked, answererName[mocked])
		}
	}
	switch {
	case len(a.asked) > 0:
		return strings.Join(a.asked, ", ")
	case strings.Contains(shown, "nothing answers"), strings.Contains(shown, "has no handler"), strings.Contains(shown, "Lambda.ResourceNotFoundException"):
		return answererName[0]
	case well:
		return answererName[bySimulatedJob]
	default:
		return shown
	}
}

// answer runs a machine in run and in serve, and requires the same answerer in both.
func (a *answerers) answer(t *testing.T, want, definition, testCase string, flags, run, serve []string) {
	t.Helper()
	var shown bytes.Buffer
	file := clitest.WriteFile(t, "m.asl.json", definition)
	code := runCommand(t.Context(), slices.Concat([]string{"run", file, "--input", "{}", "-o", "json"}, flags, run), &shown, &shown)
	require.Equal(t, want, a.takeAsked(code == kit.ExitSucceeded, shown.String()), "run, %v: %d, %s", flags, code, &shown)
	s := startServing(t, io.Discard, slices.Concat([]string{"--region", "us-east-1"}, flags, serve)...)
	status, output, cause := s.execute(t, "m", definition, testCase, "{}")
	require.Equal(t, want, a.takeAsked(status == "SUCCEEDED", output+cause), "serve, %v: %s %s", flags, status, cause)
}

// What is named for a state answers before the function, that before what is named for
// the resource, and that before the service: in run and serve, however a Task calls it.
func TestRunAndServeAskTheSame(t *testing.T) {
	t.Parallel()
	for name, form := range taskForms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAnswerers(t)
			for named := range bySomebody {
				const most = 3 // at once
				if bits.OnesCount(uint(named)) > most || form.can&byLambdaEndpoint == 0 && named&(byFunction|byLambdaEndpoint) != 0 {
					continue // what is for Lambda has nothing to do with other calls
				}
				a.answer(t, form.findAnswerer(named), form.definition(named), "", a.flags(t, form, named), nil, nil)
			}
		})
	}
}

// A test case answers the Tasks that it names, and leaves the others to the flags. Run left
// none to functions, and both left no reader of items to services.
func TestATestCaseLeavesOthers(t *testing.T) {
	t.Parallel()
	a := newAnswerers(t)
	cases := clitest.WriteFile(t, "MockConfigFile.json", `{"StateMachines": {"m": {"TestCases": {"Good": {"B": "Sent"}}}}, "MockedResponses": {"Sent": {"0": {"Return": {"MessageId": "1"}}}}}`)
	run, serve := []string{"--mocks", cases, "--test-case", "m#Good"}, []string{"--mock-config", cases}
	for _, form := range taskForms {
		definition := `{"StartAt": "A", "States": {"A": {` + form.state + `, "Next": "B"}, "B": {` + taskForms["sqs:sendMessage"].state + `, "End": true}}}`
		for _, named := range []int{byFunction, byLambdaEndpoint, byEndpoint, byFunction | byEndpoint} {
			if named&form.can == named {
				a.answer(t, form.findAnswerer(named), definition, "Good", a.flags(t, form, named), run, serve)
			}
		}
	}
}
