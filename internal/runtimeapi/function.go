// Package runtimeapi runs a Lambda function's own binary on this machine the
// way the Lambda service does: as child processes that fetch their events from
// the Lambda Runtime API (version 2018-06-01), one process per concurrent
// invocation, reused while it lives, killed at the function's time limit.
//
// It is the service's side of the contract that aws-lambda-go's lambda.Start
// is the client of. What the documentation of the Runtime API leaves open
// (status codes of refused requests, names and texts of failures) follows what
// the service and AWS's own Runtime Interface Emulator answer.
package runtimeapi

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// MaxPayload is how many bytes the event and the response of a synchronous
// invocation may have; a response may have 100 more.
const MaxPayload = 6 << 20

const (
	maxResponse = MaxPayload + 100
	// initLimit is how long a new process may take to ask for its first event.
	initLimit = 10 * time.Second
)

const defaultTimeout = 30 * time.Second

// ErrPayloadTooLarge is the error of an Invoke whose event is larger than
// 6 MiB, the most that Lambda takes in a synchronous invocation.
var ErrPayloadTooLarge = fmt.Errorf("expected at most %d bytes", MaxPayload)

var functionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w-]{1,64}$`) })

// Config says what to run.
type Config struct {
	// Name is the function's name: 1 to 64 letters, digits, hyphens and
	// underscores.
	Name string
	// Binary is the executable, the file that a deployment calls bootstrap.
	// Its folder is the working directory of the child.
	Binary  string
	Handler string // the handler setting; empty is bootstrap
	// Env is the environment of the child, complete: nothing is inherited
	// from this process. The variables that Lambda reserves (such as
	// AWS_LAMBDA_RUNTIME_API and AWS_LAMBDA_FUNCTION_NAME) are added and win.
	Env []string
	// Timeout is the time limit of an invocation; 30 s if it is 0.
	Timeout time.Duration
	// Log receives the output of every child, stdout and stderr. It is
	// discarded if Log is nil. Writes do not overlap.
	Log io.Writer
}

// Function is a Lambda function on this machine. Its methods may be called
// from several goroutines.
type Function struct {
	cfg       Config
	arn       string
	log       io.Writer
	initLimit time.Duration

	mu     sync.Mutex
	closed bool
	// usable holds the sandboxes that nobody has killed and that have not
	// died; idle those among them that wait for an event, the longest first.
	usable map[*sandbox]bool
	idle   []*sandbox

	sandboxes sync.WaitGroup
}

// New returns a function that runs cfg.Binary. No process starts before the
// first Invoke. The error matches fs.ErrNotExist if there is no such binary
// and fs.ErrPermission if it cannot be executed.
func New(cfg Config) (*Function, error) {
	if !functionName().MatchString(cfg.Name) {
		return nil, fmt.Errorf("function name %q: expected 1 to 64 letters, digits, hyphens and underscores", cfg.Name)
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("function %s: time limit %s: expected a positive duration, or 0 for %s", cfg.Name, cfg.Timeout, defaultTimeout)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	binary, err := filepath.Abs(cfg.Binary)
	if err == nil {
		binary, err = exec.LookPath(binary)
	}
	if err != nil {
		return nil, fmt.Errorf("function %s: no executable at %q: %w", cfg.Name, cfg.Binary, err)
	}
	cfg.Binary = binary
	cfg.Env = slices.Clone(cfg.Env)
	f := &Function{
		cfg:       cfg,
		arn:       functionARN(region(cfg.Env), cfg.Name),
		initLimit: initLimit,
		usable:    map[*sandbox]bool{},
	}
	if cfg.Log != nil {
		f.log = &lockedWriter{w: cfg.Log}
	}
	return f, nil
}

// Invoke runs the function once and returns its response. It takes an idle
// sandbox or starts one: a sandbox serves one invocation at a time, so
// concurrent invocations have processes of their own.
//
// An invocation that fails the way Lambda reports it gives a *FunctionError:
// the handler's error, the end of the process, the time limit, a response that
// is too large. Any other error means that the event was not processed for a
// local reason: ErrPayloadTooLarge, a binary that does not start, a closed
// function (fs.ErrClosed), or ctx, whose end also ends the sandbox at once.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("function %s: event of %d bytes: %w", f.cfg.Name, len(payload), ErrPayloadTooLarge)
	}
	inv := newInvocation(payload, f.cfg.Timeout)
	s, err := f.deliver(ctx, inv)
	if err != nil {
		return nil, err
	}
	limit := time.NewTimer(f.cfg.Timeout)
	defer limit.Stop()
	var failure error
	select {
	case <-inv.done:
		f.release(s)
	case <-s.exited:
		failure = f.sandboxError(s, inv.id)
	case <-limit.C:
		f.discard(s)
		failure = timeoutError(inv.id, f.cfg.Timeout)
	case <-ctx.Done():
		f.discard(s)
		failure = f.cancelError(ctx, inv.id)
	}
	// An answer counts however the sandbox went on after it.
	if a := s.finish(inv); a != nil {
		if a.failure != nil {
			return nil, a.failure
		}
		return a.body, nil
	}
	return nil, failure
}

// Kill sends SIGKILL to every sandbox of the function that runs now and
// returns when they are gone. Their invocations fail with Runtime.ExitError;
// the next Invoke starts a fresh process.
func (f *Function) Kill() {
	f.mu.Lock()
	killed := make([]*sandbox, 0, len(f.usable))
	for s := range f.usable {
		killed = append(killed, s)
	}
	clear(f.usable)
	f.idle = nil
	f.mu.Unlock()
	for _, s := range killed {
		s.kill()
	}
	for _, s := range killed {
		<-s.exited
	}
}

// Close ends all sandboxes and their servers and waits for them. Invocations
// that are under way, and later ones, fail with an error that matches
// fs.ErrClosed.
func (f *Function) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.Kill()
	f.sandboxes.Wait()
	return nil
}

// deliver gives the invocation to a sandbox whose process asks for an event. A
// reused sandbox that dies before it got the event is replaced; a new one that
// does is a failed start.
func (f *Function) deliver(ctx context.Context, inv *invocation) (*sandbox, error) {
	limit := time.NewTimer(f.initLimit)
	defer limit.Stop()
	for {
		if ctx.Err() != nil {
			return nil, f.cancelError(ctx, inv.id)
		}
		s, reused, err := f.acquire() //nolint:contextcheck // a sandbox outlives the invocation that starts it
		if err != nil {
			return nil, err
		}
		select {
		case s.next <- inv:
			return s, nil
		case <-s.exited:
			if reused {
				continue
			}
			return nil, f.sandboxError(s, inv.id)
		case <-s.initFailed:
			f.discard(s)
			return nil, s.initError()
		case <-limit.C:
			f.discard(s)
			return nil, timeoutError(inv.id, f.initLimit)
		case <-ctx.Done():
			f.discard(s)
			return nil, f.cancelError(ctx, inv.id)
		}
	}
}

// acquire returns the sandbox that became idle last, or a new one.
func (f *Function) acquire() (s *sandbox, reused bool, err error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, false, f.closeError()
	}
	if last := len(f.idle) - 1; last >= 0 {
		s = f.idle[last]
		f.idle = f.idle[:last]
		f.mu.Unlock()
		return s, true, nil
	}
	s = newSandbox(f.cfg, f.arn, f.log)
	started := make(chan error, 1)
	f.sandboxes.Go(func() { s.run(f, started) })
	f.mu.Unlock()
	if err := <-started; err != nil {
		return nil, false, fmt.Errorf("function %s: cannot start %q: %w", f.cfg.Name, f.cfg.Binary, err)
	}
	return s, false, nil
}

// add makes a sandbox whose process has just started known to Kill and Close.
func (f *Function) add(s *sandbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		s.kill()
		return
	}
	f.usable[s] = true
}

// remove forgets a sandbox: it will not be handed an event again.
func (f *Function) remove(s *sandbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.usable, s)
	f.idle = slices.DeleteFunc(f.idle, func(other *sandbox) bool { return other == s })
}

// release makes a sandbox that finished its invocation available again, unless
// it was killed meanwhile.
func (f *Function) release(s *sandbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.usable[s] {
		f.idle = append(f.idle, s)
	}
}

func (f *Function) discard(s *sandbox) {
	f.remove(s)
	s.kill()
}

// sandboxError is the error of an invocation whose sandbox's process has ended.
func (f *Function) sandboxError(s *sandbox, id string) error {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return f.closeError()
	}
	if e := s.initError(); e != nil {
		return e
	}
	return exitError(id, s.cmd.ProcessState)
}

func (f *Function) closeError() error {
	return fmt.Errorf("function %s: %w", f.cfg.Name, fs.ErrClosed)
}

func (f *Function) cancelError(ctx context.Context, id string) error {
	return fmt.Errorf("function %s: invocation %s given up: %w", f.cfg.Name, id, context.Cause(ctx))
}
