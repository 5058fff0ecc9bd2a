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
func (o *runOptions) checkLambdas() (err error) {
	o.functions, err = readLambdas(o.lambdas)
	return err
}

// readLambdas reads --lambda: what runs the functions, by name.
func readLambdas(texts []string) (map[string]string, error) {
	functions := map[string]string{}
	var problems []error
	for _, text := range texts {
		name, what, ok := strings.Cut(text, "=")
		switch {
		case !ok || !lambdaName().MatchString(name) || what == "":
			problems = append(problems, fmt.Errorf("--lambda must be NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..., is %q", text))
		case functions[name] != "":
			problems = append(problems, fmt.Errorf("--lambda: the function %q stands twice", name))
		case isURL(what) && checkEndpoint("lambda", what) != nil:
			problems = append(problems, checkEndpoint("lambda "+name, what))
		default:
			functions[name] = what
		}
	}
	return functions, errors.Join(problems...)
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
	o := a.options
	starter := &functionStarter{
		services: &o.services, places: o.services.places, env: os.Environ(), verbose: o.verbose, stderr: a.stderr, above: a.progress.above,
	}
	a.closers = append(a.closers, starter.close)
	return all, starter.startAll(ctx, a.options.functions, all)
}

// functionStarter starts the functions of --lambda, and ends them.
type functionStarter struct {
	services *services
	places   places   // where the functions' calls go
	env      []string // that the functions get beside
	verbose  bool     // show the functions' logs
	stderr   io.Writer
	above    func(out io.Writer, write func(out io.Writer)) // writes between what else is shown

	closers []func() error
}

func (s *functionStarter) close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// startAll prepares functions, and puts them to the others.
func (s *functionStarter) startAll(ctx context.Context, functions map[string]string, all map[string]sim.LambdaFunction) (err error) {
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if all[name], err = s.start(ctx, name, functions[name]); err != nil {
			return usage("--lambda %s: %w", name, err)
		}
	}
	return nil
}

// start prepares one function.
func (s *functionStarter) start(ctx context.Context, name, what string) (sim.LambdaFunction, error) {
	if isURL(what) {
		if err := reach(ctx, "lambda", what); err != nil {
			return nil, err
		}
		cfg, err := s.services.local(ctx)
		if err != nil {
			return nil, err
		}
		return newRemoteFunction(name, what, http.DefaultTransport, &cfg)
	}
	binary := what
	if pkg, ok := strings.CutPrefix(what, goPackage); ok {
		folder, err := os.MkdirTemp("", "jobpoller-")
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, func() error { return os.RemoveAll(folder) })
		if binary = filepath.Join(folder, "bootstrap"); runtime.GOOS == "windows" {
			binary += ".exe"
		}
		if err := lambdabuild.Executable(ctx, ".", pkg, lambdabuild.Host(), binary); err != nil {
			return nil, err
		}
	}
	said := &lastOutput{}
	log := io.Writer(said)
	if s.verbose {
		log = s.stderr
	}
	env, err := s.places.addTo(s.env)
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
	s.closers = append(s.closers, function.Close)
	invoke := localloop.Process(function)
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		result, err := invoke(ctx, payload)
		if failure, ok := errors.AsType[*sim.FunctionError](err); ok && failure.Type == "Runtime.ExitError" {
			s.above(s.stderr, func(out io.Writer) { said.show(out, name) })
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
func isFunction(resource string) bool { return asl.ParseResource(resource).IsFunction() }

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

// invokeFunctions lets Tasks invoke the functions that there are, unless something is
// named for their states. What names other functions goes where it would have gone.
func (a *taskAnswers) invokeFunctions(options *sim.Options, functions map[string]sim.LambdaFunction) {
	if len(functions) == 0 {
		return
	}
	handlers := maps.Clone(options.StateHandlers)
	if handlers == nil {
		handlers = map[string]sim.Handler{}
	}
	for resource, states := range a.resources() {
		handler := a.functionHandler(options, functions, resource)
		for _, s := range states {
			if handler != nil && handlers[s.Name] == nil {
				handlers[s.Name] = handler
			}
		}
	}
	options.StateHandlers = handlers
}

// functionHandler lets functions answer the Tasks of a resource; nil if none of them can.
func (a *taskAnswers) functionHandler(options *sim.Options, functions map[string]sim.LambdaFunction, resource string) sim.Handler {
	invoke := sim.LambdaInvoke(functions)
	name, _ := sim.FunctionName(resource)
	switch {
	case a.isCollected(resource):
		return a.collector.Handler(invoke)
	case isInvoke(resource):
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			name := functionOfCall(resource, call)
			if others := options.Handlers[resource]; functions[name] == nil && others != nil {
				return others(ctx, call)
			}
			return a.invoke(ctx, name, invoke, call)
		}
	case isFunction(resource) && functions[name] != nil:
		direct := sim.LambdaDirect(functions[name])
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) { return a.invoke(ctx, name, direct, call) }
	default:
		return nil
	}
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
