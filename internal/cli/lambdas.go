package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
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
	"github.com/jobpoller/jobpoller/internal/terminal"
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
		case isURL(what) && checkEndpoint("lambda", what) != nil:
			problems = append(problems, checkEndpoint("lambda "+name, what))
		default:
			o.functions[name] = what
		}
	}
	return errors.Join(problems...)
}

// isURL tells whether a server invokes a function.
func isURL(what string) bool {
	return strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://")
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
	if isURL(what) {
		if err := reach(ctx, "lambda", what); err != nil {
			return nil, err
		}
		return newRemoteFunction(name, what, http.DefaultTransport)
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
	said := &lastOutput{}
	log := io.Writer(said)
	if a.options.verbose {
		log = a.stderr
	}
	env, err := a.options.services.places.addTo(os.Environ())
	if err != nil {
		return nil, err
	}
	function, err := runtimeapi.New(runtimeapi.Config{Name: name, Binary: binary, Env: env, Timeout: longestInvocation, Log: log})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; expected a program that speaks the Lambda Runtime API, or the URL of a server that invokes the function", err)
	}
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, function.Close)
	invoke := localloop.Process(function)
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		result, err := invoke(ctx, payload)
		if failure, ok := errors.AsType[*sim.FunctionError](err); ok && failure.Type == "Runtime.ExitError" {
			a.progress.above(a.stderr, func(out io.Writer) { said.show(out, name) })
		}
		return result, err
	}, nil
}

// lastOutput keeps the last bytes that a function's process wrote. If the process dies,
// they say why.
type lastOutput struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (l *lastOutput) Write(p []byte) (int, error) {
	const most = 2000
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = slices.Clone(l.text[max(0, len(l.text)-most):])
	return len(p), nil
}

// show writes the output, and forgets it.
func (l *lastOutput) show(out io.Writer, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(l.text)) {
		terminal.Fprintf(out, "%s: %s\n", name, strings.TrimRight(line, "\r\n"))
	}
	l.text = nil
}

// isFunction tells whether a resource is the ARN of a function.
func isFunction(resource string) bool {
	r := asl.ParseResource(resource)
	return r.Direct && r.Service == "lambda"
}

// isInvoke tells whether a resource invokes functions by name, in any partition.
func isInvoke(resource string) bool {
	r := asl.ParseResource(resource)
	return r == asl.Resource{Service: "lambda", Action: "invoke"}
}

// lambdaInvokeForToken invokes a function for a Task that waits with a token.
const lambdaInvokeForToken = lambdaInvoke + ".waitForTaskToken"

// isCollected tells whether the collector answers the Tasks of a resource.
func (a *taskAnswers) isCollected(resource string) bool {
	return a.collector != nil && resource == lambdaInvokeForToken
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
	invoke := sim.LambdaInvoke(functions)
	for resource := range a.resources() {
		name, _ := sim.FunctionName(resource)
		switch {
		case a.isCollected(resource):
			handlers[resource] = a.collector.Handler(invoke)
		case isInvoke(resource):
			others := handlers[resource]
			handlers[resource] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
				arguments, _ := call.Arguments.(map[string]any)
				reference, _ := arguments["FunctionName"].(string)
				name, _ := sim.FunctionName(reference)
				if functions[name] == nil && arguments != nil && others != nil {
					return others(ctx, call)
				}
				return a.invoke(ctx, name, invoke, call)
			}
		case isFunction(resource) && functions[name] != nil:
			direct := sim.LambdaDirect(functions[name])
			handlers[resource] = func(ctx context.Context, call sim.Call) (sim.Reply, error) { return a.invoke(ctx, name, direct, call) }
		}
	}
	options.Handlers = handlers
}

// invoke lets a function answer a Task. The command's own start a job once, however
// often a run of a name begins: they need no notice.
func (a *taskAnswers) invoke(ctx context.Context, name string, handler sim.Handler, call sim.Call) (sim.Reply, error) {
	if a.options.functions[name] != "" {
		if _, err := a.calls.begin(call.State, "lambda "+name, true); err != nil {
			return sim.Reply{}, err
		}
	}
	return handler(ctx, call)
}
