package runtimeapi

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

const (
	accountID     = "123456789012"
	defaultRegion = "us-east-1"
	version       = "$LATEST"
)

// sandbox is one process of the function and the Runtime API server that only
// this process can talk to.
type sandbox struct {
	arn string
	cmd *exec.Cmd
	// serverLog takes what the server says of broken connections.
	serverLog *log.Logger

	// next hands an event to the request of the process that waits for one.
	next chan *invocation
	// exited is closed when the process has ended, initFailed when it posts
	// that its start failed.
	exited     chan struct{}
	initFailed chan struct{}

	mu      sync.Mutex
	asked   bool           // for an event, so its start is over
	failed  *FunctionError // the posted failure of its start
	current *invocation    // delivered and not finished
	ended   bool           // so the number of its process may be another's
}

func newSandbox(cfg Config, arn string, output io.Writer) *sandbox {
	s := &sandbox{
		arn:        arn,
		cmd:        exec.Command(cfg.Binary), //nolint:gosec,noctx // the caller's program; it outlives the invocation that starts it
		next:       make(chan *invocation),
		exited:     make(chan struct{}),
		initFailed: make(chan struct{}),
	}
	s.cmd.Dir = filepath.Dir(cfg.Binary)
	s.cmd.Env = slices.Concat([]string{"TZ=:UTC"}, cfg.Env, lambdaVariables(cfg))
	s.cmd.SysProcAttr = processAttributes()
	// A process that has left the group of the function must not keep its output
	// open, and so this sandbox, for ever.
	s.cmd.WaitDelay = time.Second
	if output != nil {
		s.cmd.Stdout, s.cmd.Stderr = output, output
		s.serverLog = log.New(output, "runtime API: ", 0)
	}
	return s
}

// run starts the process, tells started, and returns when the process and its
// server have ended.
func (s *sandbox) run(f *Function, started chan<- error) {
	// On Linux the kernel kills the child when the thread that started it
	// ends, so this thread has to last as long as the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	// The API has no authentication, and whoever reaches it can take events and
	// answer them: only this process learns the path.
	secret := loopback.NewSecret()
	server, err := loopback.Start(loopback.RequirePath(secret, s.routes()), s.serverLog)
	if err != nil {
		started <- err
		return
	}
	defer server.Wait()
	defer server.Close() //nolint:errcheck // nothing of it is needed any more
	s.cmd.Env = append(s.cmd.Env, "AWS_LAMBDA_RUNTIME_API="+server.Address()+"/"+secret)
	if err := s.cmd.Start(); err != nil {
		started <- err
		return
	}
	f.add(s)
	started <- nil

	awaitEnd(s.cmd)
	s.mu.Lock()
	killGroup(s.cmd) // what it has started and left behind
	s.ended = true
	s.mu.Unlock()
	_ = s.cmd.Wait() // ProcessState says how it ended
	f.remove(s)
	close(s.exited)
}

// kill ends the process, and those that it has started. It has no effect on one that
// has ended.
func (s *sandbox) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		killGroup(s.cmd)
	}
}

// finish takes the invocation from the process, whose late answers are refused
// from now on, and returns its answer or nil.
func (s *sandbox) finish(inv *invocation) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == inv {
		s.current = nil
	}
	return inv.answer
}

// initError returns the failure of the start that the process posted, or nil.
func (s *sandbox) initError() *FunctionError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// lambdaVariables returns the variables that no function of Lambda can set itself, but
// for the address of the Runtime API.
func lambdaVariables(cfg Config) []string {
	stream := fmt.Sprintf("%s/[%s]%x", time.Now().UTC().Format("2006/01/02"), version, randomBytes(16))
	return []string{
		"AWS_REGION=" + region(cfg.Env),
		"AWS_DEFAULT_REGION=" + region(cfg.Env),
		"AWS_LAMBDA_FUNCTION_NAME=" + cfg.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=" + version,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + cfg.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME=" + stream,
		"LAMBDA_TASK_ROOT=" + filepath.Dir(cfg.Binary),
		"_HANDLER=" + cmp.Or(cfg.Handler, "bootstrap"),
	}
}

// region returns the region that the environment names.
func region(env []string) string {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		for _, variable := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok && value != "" {
				return value
			}
		}
	}
	return defaultRegion
}

func functionARN(region, name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", region, accountID, name)
}

// lockedWriter serialises what the processes of a function write. A log that
// fails must not end a function, so its errors are dropped.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(p)
	return len(p), nil
}
