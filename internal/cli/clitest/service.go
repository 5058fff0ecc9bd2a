package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// scriptService is a service of AWS's on the loopback interface that says what a
// script tells it to: one answer after the other, and the last for good.
type scriptService struct {
	*httptest.Server

	mu       sync.Mutex
	more     sync.Cond
	answers  []scriptAnswer
	requests int
	got      strings.Builder
}

// scriptAnswer is a line of a script's file: a status and a JSON body, or
// "never", after which the service says nothing until the client is gone.
type scriptAnswer struct {
	status int
	body   string
}

func parseAnswers(text string) ([]scriptAnswer, error) {
	var all []scriptAnswer
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		code, body, _ := strings.Cut(line, " ")
		status, err := strconv.Atoi(code)
		if line != "never" && (err != nil || !json.Valid([]byte(body))) {
			return nil, fmt.Errorf("expected a status and JSON, or \"never\", found %q", line)
		}
		all = append(all, scriptAnswer{status, body})
	}
	if len(all) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return all, nil
}

func newScriptService(answers []scriptAnswer) *scriptService {
	s := &scriptService{answers: answers}
	s.more.L = &s.mu
	s.Server = httptest.NewServer(s)
	return s
}

func (s *scriptService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	s.mu.Lock()
	s.requests++
	fmt.Fprintf(&s.got, "%s %s %s %s\n", r.Method, r.URL.RequestURI(), r.Header.Get("X-Amz-Target"), body)
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	s.more.Broadcast()
	if answer.status == 0 {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(answer.body))), 10)) // for DynamoDB
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body) // a client that is gone is no concern here
}

// wait returns when there have been so many requests.
func (s *scriptService) wait(requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.requests < requests {
		s.more.Wait()
	}
}

func (s *scriptService) readRequests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.String()
}

// scriptServices are those of all scripts, by their scripts.
var scriptServices sync.Map // *testscript.TestScript to *scriptService

// serve starts a service that gives the answers of a file, at $SERVICE:
// serve FILE.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve FILE")
	}
	answers, err := parseAnswers(ts.ReadFile(args[0]))
	ts.Check(err)
	s := newScriptService(answers)
	ts.Defer(func() {
		s.CloseClientConnections()
		s.Close()
	})
	scriptServices.Store(ts, s)
	ts.Setenv("SERVICE", s.URL)
}

// requests waits for so many requests to the service, or writes those there were
// to a file: requests N|FILE.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := scriptServices.Load(ts)
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("usage: serve FILE, and then requests N|FILE")
	}
	service := s.(*scriptService)
	if n, err := strconv.Atoi(args[0]); err == nil {
		service.wait(n)
		return
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(service.readRequests()), 0o600))
}

var elapsedMember = regexp.MustCompile(`"(elapsedSeconds|afterSeconds|untilSeconds)": [0-9.e-]+`)

// writeUntimed writes the last standard output to a file, without the time that
// passed: untimed FILE.
func writeUntimed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: untimed FILE")
	}
	text := elapsedMember.ReplaceAll([]byte(ts.ReadFile("stdout")), []byte(`"$1": 0`))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.TrimLeft(text, "\n"), 0o600))
}

// ClusterWait are the arguments of a wait for a cluster at a scripted service.
func ClusterWait(t *testing.T, answers string, more ...string) []string {
	t.Helper()
	parsed, err := parseAnswers(answers)
	require.NoError(t, err)
	s := newScriptService(parsed)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return append([]string{
		"wait", "eks", "ClusterActive", "--input", `{"name": "prod"}`, "--region", "eu-west-1", "--endpoint-url", s.URL, "--max-wait", "1h",
	}, more...)
}
