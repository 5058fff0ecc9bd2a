package clients_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var buildCommand = sync.OnceValues(func() (string, error) {
	if *command != "" {
		return *command, nil
	}
	file := filepath.Join(binaries, "jobpoller")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-C", "../..", "-o", file, "./cmd/jobpoller").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return file, nil
})

// serving is a `jobpoller serve` that runs.
type serving struct {
	url     string
	process *os.Process
	log     *log
}

// log is what a process writes.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// address is that of the server in what it writes at its start.
var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// startServe starts the command on a free port, and ends it with the test.
func startServe(t *testing.T, arguments ...string) *serving {
	t.Helper()
	return startUnder(t, nil, arguments...)
}

// startUnder starts the command by another, which gets it as its last arguments.
func startUnder(t *testing.T, by []string, arguments ...string) *serving {
	t.Helper()
	file, err := buildCommand()
	require.NoError(t, err)
	s := &serving{log: &log{}}
	all := slices.Concat(by, []string{file, "serve", "--port", "0"}, arguments)
	process := exec.CommandContext(t.Context(), all[0], all[1:]...)
	process.Stdout, process.Stderr = s.log, s.log
	process.Cancel = func() error { return process.Process.Signal(os.Interrupt) }
	process.WaitDelay = 30 * time.Second
	require.NoError(t, process.Start())
	s.process = process.Process
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // it is interrupted, or says why it has ended
	}()
	t.Cleanup(func() { <-ended })
	require.Eventually(t, func() bool {
		s.url = address.FindString(s.log.String())
		select {
		case <-ended:
			return true
		default:
			return s.url != ""
		}
	}, time.Minute, 5*time.Millisecond, "serve does not say its address")
	require.NotEmpty(t, s.url, "serve has ended:\n%s", s.log)
	return s
}

// clock asks for the clock of the control endpoint, or changes it by a body.
func (s *serving) clock(t *testing.T, body string) (status int, answer string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+"/_jobpoller/clock", bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(text)
}
