package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// lambdaName is what a function may be called.
var lambdaName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w-]{1,64}$`) })

// longestInvocation is how long Lambda lets a function work.
const longestInvocation = 15 * time.Minute

// goPackage stands before a package of Go in --lambda.
const goPackage = "go:"

// checkLambdas reads --lambda, and reports what is wrong with it.
func (o *runOptions) checkLambdas() error {
	o.functions = map[string]string{}
	var problems []error
	for _, text := range o.lambdas {
		name, what, ok := strings.Cut(text, "=")
		switch {
		case !ok || !lambdaName().MatchString(name) || what == "":
			problems = append(problems, fmt.Errorf("--lambda must be NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..., is %q", text))
		case o.functions[name] != "":
			problems = append(problems, fmt.Errorf("--lambda: the function %q stands twice", name))
		default:
			o.functions[name] = what
		}
	}
	return errors.Join(problems...)
}

// functions are the Lambda functions of the run by name: those of --lambda, and the
// command's own where the machine names one.
func (a *taskAnswers) functions(ctx context.Context, options *sim.Options, input []byte) (map[string]sim.LambdaFunction, error) {
	all, err := a.startBench(ctx, options, input)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(a.options.functions)) {
		if all[name], err = a.startFunction(ctx, name, a.options.functions[name]); err != nil {
			return nil, usage("--lambda %s: %w", name, err)
		}
	}
	return all, nil
}

// startFunction prepares one function.
func (a *taskAnswers) startFunction(ctx context.Context, name, what string) (sim.LambdaFunction, error) {
	if strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://") {
		return newRemoteFunction(name, what)
	}
	binary := what
	if pkg, ok := strings.CutPrefix(what, goPackage); ok {
		folder, err := os.MkdirTemp("", "jobpoller-")
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, func() error { return os.RemoveAll(folder) })
		if binary = filepath.Join(folder, "bootstrap"); runtime.GOOS == "windows" {
			binary += ".exe"
		}
		if err := lambdabuild.Executable(ctx, ".", pkg, lambdabuild.Host(), binary); err != nil {
			return nil, err
		}
	}
	log := io.Discard
	if a.options.verbose {
		log = a.stderr
	}
	env := a.options.services.places.addTo(os.Environ())
	function, err := runtimeapi.New(runtimeapi.Config{Name: name, Binary: binary, Env: env, Timeout: longestInvocation, Log: log})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, function.Close)
	return localloop.Process(function), nil
}

// newRemoteFunction posts events to a server that invokes the function, such as that
// of AWS's emulator. A URL without a path is that of a Lambda service.
func newRemoteFunction(name, address string) (sim.LambdaFunction, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("expected a URL such as http://127.0.0.1:9000, found %q", address)
	}
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath("2015-03-31", "functions", name, "invocations")
	}
	// A redirect would send the event to a host that nobody named.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(payload))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(response.Body, runtimeapi.MaxPayload+1))
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return nil, err
		}
		failure, alone := readFunctionError(text)
		switch location := response.Header.Get("Location"); {
		case len(text) > runtimeapi.MaxPayload:
			return nil, fmt.Errorf("%s: the answer is longer than %d bytes", u, runtimeapi.MaxPayload)
		case response.Header.Get("X-Amz-Function-Error") != "":
			return nil, failure
		case location != "" && response.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("%s: HTTP status %s: the server names another URL: pass that one if the event may go there: %s", u, response.Status, location)
		case response.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("%s: HTTP status %s: %s", u, response.Status, beginning(text))
		case alone: // AWS's emulator sends no header
			return nil, failure
		default:
			return text, nil
		}
	}, nil
}

// readFunctionError reads what a function failed with. Without a type the error is
// Lambda.Unknown. It also tells whether the text has what a runtime of Lambda says of a
// failure, and nothing else.
func readFunctionError(text []byte) (failure *sim.FunctionError, alone bool) {
	failure = &sim.FunctionError{}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return failure, false
	}
	isText := func(member string, to *string) bool {
		value := members[member]
		return len(value) > 0 && value[0] == '"' && json.Unmarshal(value, to) == nil
	}
	hasType, hasMessage := isText("errorType", &failure.Type), isText("errorMessage", &failure.Message)
	for member := range members {
		if !slices.Contains(failureMembers, member) {
			return failure, false
		}
	}
	return failure, hasType && hasMessage
}

// failureMembers are what the runtimes of Lambda say of a failure.
var failureMembers = []string{"errorType", "errorMessage", "stackTrace", "trace", "requestId", "cause"}

// beginning is the beginning of an answer, in one line.
func beginning(text []byte) string {
	const most = 500 // bytes
	cut, more := text, ""
	if len(cut) > most {
		cut, more = cut[:most], "..."
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(cut), "")), " ") + more
}

// isFunction tells whether a resource is the ARN of a function.
func isFunction(resource string) bool {
	r := asl.ParseResource(resource)
	return r.Direct && r.Service == "lambda"
}

// invokeFunctions lets Tasks invoke the functions that there are. What names others
// goes where it would have gone.
func (a *taskAnswers) invokeFunctions(options *sim.Options, functions map[string]sim.LambdaFunction) {
	if len(functions) == 0 {
		return
	}
	handlers := maps.Clone(options.Handlers)
	if handlers == nil {
		handlers = map[string]sim.Handler{}
	}
	others, invoke := handlers[lambdaInvoke], sim.LambdaInvoke(functions)
	handlers[lambdaInvoke] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if arguments, ok := call.Arguments.(map[string]any); ok && others != nil {
			reference, _ := arguments["FunctionName"].(string)
			if name, _ := sim.FunctionName(reference); functions[name] == nil {
				return others(ctx, call)
			}
		}
		return invoke(ctx, call)
	}
	for resource := range a.resources() {
		if name, _ := sim.FunctionName(resource); isFunction(resource) && functions[name] != nil {
			handlers[resource] = sim.LambdaDirect(functions[name])
		}
	}
	options.Handlers = handlers
}
