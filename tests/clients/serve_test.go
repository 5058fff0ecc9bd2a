package clients_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
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

// endpoint is where clients call, and what they sign with.
type endpoint struct {
	url  string
	keys aws.Credentials
}

// openKeys are those of clients of a server that asks for none.
var openKeys = aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}

// serving is a `jobpoller serve` that runs.
type serving struct {
	endpoint

	process *os.Process
	log     *log
	runtime string // the folder with its keys
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
	s := &serving{log: &log{}, runtime: t.TempDir()}
	all := slices.Concat(by, []string{file, "serve", "--port", "0"}, arguments)
	process := exec.CommandContext(t.Context(), all[0], all[1:]...)
	process.Stdout, process.Stderr = s.log, s.log
	process.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+s.runtime)
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
	s.keys = s.printedKeys(t)
	return s
}

// printedKeys are those that --print-env prints for the server.
func (s *serving) printedKeys(t *testing.T) (keys aws.Credentials) {
	t.Helper()
	file, err := buildCommand()
	require.NoError(t, err)
	print := exec.CommandContext(t.Context(), file, "serve", "--print-env", "--port", s.url[strings.LastIndex(s.url, ":")+1:])
	print.Env = []string{"XDG_RUNTIME_DIR=" + s.runtime, "HOME=" + s.runtime}
	out, err := print.Output()
	require.NoError(t, err)
	for name, into := range map[string]*string{"AWS_ACCESS_KEY_ID": &keys.AccessKeyID, "AWS_SECRET_ACCESS_KEY": &keys.SecretAccessKey} {
		_, value, _ := strings.Cut(string(out), "export "+name+"='")
		*into, _, _ = strings.Cut(value, "'")
	}
	return keys
}

// sign signs a request, if the server asks for that.
func (e endpoint) sign(r *http.Request, body string) error {
	if e.keys == openKeys {
		return nil
	}
	hash := sha256.Sum256([]byte(body))
	return v4.NewSigner().SignHTTP(r.Context(), e.keys, r, hex.EncodeToString(hash[:]), "states", "us-east-1", time.Now())
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
	require.NoError(t, s.sign(request, body))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(text)
}
