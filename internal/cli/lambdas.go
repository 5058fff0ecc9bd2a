package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// longestInvocation is how long Lambda lets a function work.
const longestInvocation = 15 * time.Minute

// goPackage stands before a package of Go in --lambda.
const goPackage = "go:"

// checkLambdas reads --lambda, and reports what is wrong with it.
func (o *runOptions) checkLambdas() (err error) {
	o.functions, err = readLambdas(o.lambdas)
	return err
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
		settings: newLocalSettings(&o.services), places: o.services.places, env: os.Environ(), verbose: o.verbose, stderr: a.stderr, above: a.progress.above,
	}
	if a.bench != nil {
		starter.addStore = a.bench.addStore
	}
	a.closers = append(a.closers, starter.close)
	if err := starter.startAll(ctx, o.functions, all); err != nil {
		return nil, err
	}
	for _, name := range o.functions.names() {
		if shipped := shippedNames[o.functions.handlerOf(name)]; shipped != "" && a.bench != nil {
			all[name] = a.bench.follow(shipped, all[name], a.progress.record)
		}
	}
	return all, nil
}

// outputTells are the errors of a process that says no more itself: what it wrote tells why.
var outputTells = []string{"Runtime.ExitError", "Sandbox.Timedout"}

// functionStarter starts the functions of --lambda, and ends them.
type functionStarter struct {
	settings *localSettings
	places   places   // where the functions' calls go
	env      []string // that the functions get beside
	verbose  bool     // show the functions' logs
	stderr   io.Writer
	above    func(out io.Writer, write func(out io.Writer)) // writes between what else is shown
	// addStore gives run-job, check-status and the collector the store of the start
	// records in their environment.
	addStore func(ctx context.Context, env []string) ([]string, error)

	built   map[string]string // executables, by the packages of Go
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
func (s *functionStarter) startAll(ctx context.Context, functions localFunctions, all map[string]sim.LambdaFunction) (err error) {
	for _, name := range functions.names() {
		if all[name], err = s.start(ctx, name, functions); err != nil {
			return usage("--lambda %s: %w", name, err)
		}
	}
	return nil
}

// start prepares one function.
func (s *functionStarter) start(ctx context.Context, name string, functions localFunctions) (sim.LambdaFunction, error) {
	what := functions.byName[name].what
	if isURL(what) {
		if err := reach(ctx, "lambda", what); err != nil {
			return nil, err
		}
		return newRemoteFunction(name, what, http.DefaultTransport, s.settings)
	}
	binary, err := s.build(ctx, what)
	if err != nil {
		return nil, err
	}
	if isFolder(binary) {
		return nil, fmt.Errorf("%s is a folder: pass go:%s to build its package of Go, or a program in it", what, what)
	}
	said := &lastOutput{}
	log := io.Writer(said)
	if s.verbose {
		log = s.stderr
	}
	config := runtimeapi.Config{Name: name, Binary: binary, Handler: functions.handlerOf(name), Timeout: longestInvocation, Log: log}
	if config.Env, err = s.environment(ctx, functions.templates[name], config.Handler); err != nil {
		return nil, err
	}
	if isPollerHandler(config.Handler) {
		config.Timeout = localloop.Timeout
	}
	function, err := runtimeapi.New(config)
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
		if failure, ok := errors.AsType[*sim.FunctionError](err); ok && slices.Contains(outputTells, failure.Type) {
			s.above(s.stderr, func(out io.Writer) {
				said.show(out, name)
				_, what, _ := strings.Cut(failure.Message, " Error: ") // behind the id of the request
				terminal.Fprintf(out, "%s: %s\n", name, cmp.Or(what, failure.Message))
			})
		}
		return result, err
	}, nil
}

// build returns the executable that --lambda names. It builds a package of Go once.
func (s *functionStarter) build(ctx context.Context, what string) (string, error) {
	pkg, ok := strings.CutPrefix(what, goPackage)
	if !ok {
		return what, nil
	}
	if binary := s.built[pkg]; binary != "" {
		return binary, nil
	}
	folder, err := os.MkdirTemp("", "jobpoller-")
	if err != nil {
		return "", err
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(folder) })
	binary := filepath.Join(folder, "bootstrap")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	module, path, local := ".", pkg, strings.HasPrefix(pkg, ".") || filepath.IsAbs(pkg)
	if own := moduleOf(pkg); local && own != "" && own != moduleOf(".") {
		module, path = own, withinModule(own, pkg)
	}
	err = lambdabuild.Executable(ctx, module, path, lambdabuild.Host(), binary)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s needs the go command in the PATH: install Go, or pass a program that is built: ./bootstrap", what)
	case err != nil && !local && isFolder(pkg):
		return "", fmt.Errorf("go:%s is a package of Go's library or of a module: for the folder here, pass go:./%s (%w)", pkg, filepath.ToSlash(pkg), err)
	case err != nil && local && !isFolder(pkg):
		return "", fmt.Errorf("there is no folder %s here: pass the folder of a package main, from the current folder", pkg)
	case err != nil:
		return "", err
	}
	if s.built == nil {
		s.built = map[string]string{}
	}
	s.built[pkg] = binary
	return binary, nil
}

// moduleOf is the folder of the module of Go that a folder is in; empty if it is in none.
func moduleOf(folder string) string {
	folder, err := filepath.Abs(folder)
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			break
		}
		folder = above
	}
	return ""
}

// withinModule is a folder of a module as go build takes it in that of the module.
func withinModule(module, folder string) string {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return folder
	}
	within, err := filepath.Rel(module, whole)
	if err != nil {
		return whole
	}
	return "./" + filepath.ToSlash(within)
}

// isFolder tells whether a name is that of a folder.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// environment is that of a function: the command's own, what the template says beside,
// and where calls go. The store of start records is that of the run.
func (s *functionStarter) environment(ctx context.Context, of source.Function, handler string) ([]string, error) {
	var env []string
	for name, value := range of.Environment {
		if !isPollerHandler(handler) || !slices.Contains(storeVariables, name) {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	env, err := s.places.addTo(append(env, s.env...)) // the last of a name counts
	if err != nil || !isPollerHandler(handler) || s.addStore == nil {
		return env, err
	}
	return s.addStore(ctx, env)
}

// lastOutput keeps the last bytes that a function's process wrote. If the process dies or
// hangs, they say why.
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
	of := a.options.functions
	invoke := of.invoker(functions)
	name, _ := sim.FunctionName(resource)
	switch {
	case a.isCollected(resource):
		return a.collector.Handler(invoke)
	case isInvoke(resource):
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			name := functionOfCall(resource, call)
			if others := options.Handlers[resource]; of.resolve(functions, name) == nil && others != nil {
				return others(ctx, call)
			}
			return a.invoke(ctx, name, invoke, call)
		}
	case isFunction(resource) && of.resolve(functions, name) != nil:
		direct := sim.LambdaDirect(of.resolve(functions, name))
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) { return a.invoke(ctx, name, direct, call) }
	default:
		return nil
	}
}

// invoke lets a function answer a Task. Run-job starts a job once, however often a run of
// a name begins, and check-status starts none: they need no notice.
func (a *taskAnswers) invoke(ctx context.Context, name string, handler sim.Handler, call sim.Call) (sim.Reply, error) {
	if own := a.options.functions.find(name); own != "" && !isPollerHandler(a.options.functions.handlerOf(own)) {
		if _, err := a.calls.begin(call.State, "lambda "+name, true); err != nil {
			return sim.Reply{}, err
		}
	}
	reply, err := handler(ctx, call)
	if failure, ok := errors.AsType[*sim.TaskError](err); ok && slices.Contains(outputTells, failure.Name) {
		a.progress.noteCrash(call.State, failure.Cause)
	}
	return reply, err
}
