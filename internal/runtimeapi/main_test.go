package runtimeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/jobpoller/jobpoller/internal/runtimeapi"
)

// roleVariable names what this test binary is when a test runs it as a child.
const roleVariable = "RUNTIMEAPI_TEST_ROLE"

// roles are the Lambda functions, and other programs, that the tests run.
var roles = map[string]func(){
	"echo":   func() { lambda.Start(echo) },
	"call":   func() { lambda.Start(call) },
	"answer": func() { lambda.Start(answerAs) },

	"exits in init": func() { os.Exit(3) },
	"ends in init":  func() {},
	"hangs in init": hang,
	"fails in init": failInInit,
	"raw":           rawRuntime,
	"invokes call":  invokeCall,

	"starts a child":   func() { lambda.Start(startChild) },
	"hangs with child": func() { lambda.Start(hangWithChild) },
	"goes to the gate": goToGate,
}

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleVariable)
	if !ok {
		os.Exit(m.Run())
	}
	roles[role]()
}

// seen is what a function sees of its invocation.
type seen struct {
	Payload      string            `json:"payload"`
	PID          int               `json:"pid"`
	RequestID    string            `json:"requestId"`
	ARN          string            `json:"arn"`
	Trace        string            `json:"trace"`
	Deadline     time.Time         `json:"deadline"`
	FunctionName string            `json:"functionName"`
	Folder       string            `json:"folder"`
	Env          map[string]string `json:"env"`
}

func echo(ctx context.Context, payload map[string]any) (seen, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	folder, err := os.Getwd()
	env := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	fmt.Fprintf(os.Stdout, "stdout of %v\n", payload["log"])
	fmt.Fprintf(os.Stderr, "stderr of %v\n", payload["log"])
	return seen{
		Payload: fmt.Sprint(payload), PID: os.Getpid(), RequestID: lc.AwsRequestID, ARN: lc.InvokedFunctionArn,
		Trace: os.Getenv("_X_AMZN_TRACE_ID"), Deadline: deadline, FunctionName: lambdacontext.FunctionName,
		Folder: folder, Env: env,
	}, err
}

// call fetches a URL, so that a test decides when the function goes on, and
// returns its process ID. It does not heed its time limit.
func call(url string) (int, error) {
	resp, err := http.Get(fmt.Sprintf("%s/%d", url, os.Getpid()))
	if err != nil {
		return 0, err
	}
	return os.Getpid(), resp.Body.Close()
}

// startChild starts a process that fetches a URL.
func startChild(url string) error {
	child := exec.CommandContext(context.Background(), os.Args[0])
	child.Env = []string{roleVariable + "=goes to the gate", "RUNTIMEAPI_TEST_URL=" + url}
	return child.Start()
}

// hangWithChild starts a process, and does nothing else until this one is killed.
func hangWithChild(url string) error {
	defer hang()
	return startChild(url)
}

func goToGate() {
	if _, err := call(os.Getenv("RUNTIMEAPI_TEST_URL")); err != nil {
		log.Fatal(err)
	}
}

// answerAs fails in the way that it is told, or succeeds with its process ID.
func answerAs(way string) (any, error) {
	switch way {
	case "named error":
		return nil, messages.InvokeResponse_Error{Type: "JobPoller.Running", Message: "3 of 7"}
	case "plain error":
		return nil, errors.New("plain")
	case "panic":
		panic("at the disco")
	case "exit":
		os.Exit(5)
	case "exit without error":
		os.Exit(0)
	case "too large":
		return strings.Repeat("x", 6<<20+99), nil // and two quotes
	case "largest":
		return strings.Repeat("x", 6<<20+98), nil
	case "breaks off":
		return io.MultiReader(strings.NewReader(`{"half":`), brokenReader{}), nil
	}
	return os.Getpid(), nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broke off") }

const runtimeRoot = "/2018-06-01/runtime/"

// request sends a request to the Runtime API and returns the answer's status,
// error type and request ID.
func request(method, path, body string, header ...string) (status int, errorType, id string) {
	req, err := http.NewRequestWithContext(context.Background(), method,
		"http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	var refused struct {
		Type string `json:"errorType"`
	}
	err = errors.Join(json.NewDecoder(resp.Body).Decode(&refused), resp.Body.Close())
	if err != nil {
		log.Fatal(err)
	}
	return resp.StatusCode, refused.Type, resp.Header.Get("Lambda-Runtime-Aws-Request-Id")
}

func failInInit() {
	body := `{"errorType":"Config.Missing","errorMessage":"no bucket"}`
	if status, _, _ := request("POST", runtimeRoot+"init/error", body); status != http.StatusAccepted {
		log.Fatalf("status %d", status)
	}
	request("GET", runtimeRoot+"invocation/next", "") // refused: no event reaches this process
	hang()                                            // the sandbox ends all the same
}

// hang does nothing until this process is killed.
func hang() {
	time.Sleep(time.Hour) //nolint:forbidigo // a child that a test kills
}

// rawRuntime does what no runtime should, and tells in its responses to the
// first and second event what it was answered. Further events it fails.
func rawRuntime() {
	var told []string
	try := func(what, method, path string) {
		status, errorType, _ := request(method, path, "{}")
		told = append(told, fmt.Sprintf("%s: %d %s", what, status, errorType))
	}
	respond := func(id string) {
		body, err := json.Marshal(told)
		if err != nil {
			log.Fatal(err)
		}
		if status, _, _ := request("POST", runtimeRoot+"invocation/"+id+"/response", string(body)); status != http.StatusAccepted {
			log.Fatalf("status %d", status)
		}
		told = nil
	}
	_, _, first := request("GET", runtimeRoot+"invocation/next", "")
	try("response to nothing", "POST", runtimeRoot+"invocation/none/response")
	try("error of nothing", "POST", runtimeRoot+"invocation/none/error")
	try("next too soon", "GET", runtimeRoot+"invocation/next")
	try("init error too late", "POST", runtimeRoot+"init/error")
	try("unknown route", "GET", runtimeRoot+"invocation")
	try("unknown version", "GET", "/2015-03-31/runtime/invocation/next")
	try("wrong method", "POST", runtimeRoot+"invocation/next")
	respond(first)
	try("second response", "POST", runtimeRoot+"invocation/"+first+"/response")
	try("error after response", "POST", runtimeRoot+"invocation/"+first+"/error")
	_, _, second := request("GET", runtimeRoot+"invocation/next", "")
	try("late response", "POST", runtimeRoot+"invocation/"+first+"/response")
	respond(second)
	_, _, third := request("GET", runtimeRoot+"invocation/next", "")
	request("POST", runtimeRoot+"invocation/"+third+"/error", "not JSON", "Lambda-Runtime-Function-Error-Type", "Runtime.Odd")
	_, _, fourth := request("GET", runtimeRoot+"invocation/next", "")
	request("POST", runtimeRoot+"invocation/"+fourth+"/error", `{"errorMessage":"no type"}`)
}

// invokeCall has a child of its own fetch a URL.
func invokeCall() {
	f, err := runtimeapi.New(runtimeapi.Config{
		Name: "call", Binary: os.Args[0], Env: []string{roleVariable + "=call"},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = f.Invoke(context.Background(), []byte(os.Getenv("RUNTIMEAPI_TEST_EVENT")))
	log.Fatal(err)
}
