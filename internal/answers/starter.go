package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// longestInvocation is how long Lambda lets a function work.
const longestInvocation = 15 * time.Minute

// goPackage stands before a package of Go in --lambda.
const goPackage = "go:"

// outputTells are the errors of a process that says no more itself: what it wrote tells why.
var outputTells = []string{"Runtime.ExitError", "Sandbox.Timedout"}

// starter starts the functions of --lambda, and ends them.
type starter struct {
	settings *localSettings
	places   Places   // where the functions' calls go
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

func (s *starter) close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// startAll prepares functions, and puts them to the others.
func (s *starter) startAll(ctx context.Context, functions Functions, all map[string]sim.LambdaFunction) (err error) {
	for _, name := range functions.Names() {
		if all[name], err = s.start(ctx, name, functions); err != nil {
			return commandline.Errorf("--lambda %s: %w", name, err)
		}
	}
	return nil
}

// start prepares one function.
func (s *starter) start(ctx context.Context, name string, functions Functions) (sim.LambdaFunction, error) {
	what := functions.ByName[name].What
	if IsURL(what) {
		if err := Reach(ctx, "lambda", what); err != nil {
			return nil, err
		}
		return newRemote(name, what, http.DefaultTransport, s.settings)
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
	if config.Env, err = s.environment(ctx, functions.Templates[name], config.Handler); err != nil {
		return nil, err
	}
	if isPoller(config.Handler) {
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
func (s *starter) build(ctx context.Context, what string) (string, error) {
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
func (s *starter) environment(ctx context.Context, of source.Function, handler string) ([]string, error) {
	var env []string
	for name, value := range of.Environment {
		if !isPoller(handler) || !slices.Contains(storeVariables, name) {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	env, err := s.places.Environ(append(env, s.env...)) // the last of a name counts
	if err != nil || !isPoller(handler) || s.addStore == nil {
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
