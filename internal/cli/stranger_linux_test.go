package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
)

// nobody is another user.
const nobody = 65534

// startedRun is the command in a process of its own, which has started the job.
type startedRun struct {
	process *exec.Cmd
	pid     int
	stdout  *bufio.Reader
	stderr  *waitFor
}

// waitFor tells when a text has been written.
type waitFor struct {
	text  string
	found chan struct{}

	mu      sync.Mutex
	written strings.Builder
}

func (w *waitFor) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.written.String(), w.text)
	_, _ = w.written.Write(p)
	if !before && strings.Contains(w.written.String(), w.text) {
		close(w.found)
	}
	return len(p), nil
}

func (w *waitFor) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.String()
}

func startRun(t *testing.T, args ...string) *startedRun {
	t.Helper()
	return startCommand(t, "  RunJob  ", append([]string{"demo"}, args...)...)
}

// startCommand starts the command, and waits until it writes a text to stderr.
func startCommand(t *testing.T, text string, args ...string) *startedRun {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	process := exec.CommandContext(t.Context(), self)
	process.Args = append([]string{"jobpoller"}, args...)
	process.Env = append(os.Environ(), "AWS_EC2_METADATA_DISABLED=true")
	stderr := &waitFor{text: text, found: make(chan struct{})}
	process.Stderr = stderr
	stdout, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	select {
	case <-stderr.found:
	case <-time.After(time.Minute): // it builds the functions
		_ = process.Process.Kill()
		_ = process.Wait()
		t.Fatal(stderr.String())
	}
	return &startedRun{process, process.Process.Pid, bufio.NewReader(stdout), stderr}
}

// runResult is what run writes of an execution, as far as the tests read it.
type runResult struct {
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	S3     runAccess       `json:"s3"`
}

// runAccess is how its owner reaches the S3 server of a run.
type runAccess struct {
	Endpoint        string `json:"endpoint"`
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
}

func (r *startedRun) wait(t *testing.T) (result runResult) {
	t.Helper()
	text, err := io.ReadAll(r.stdout)
	require.NoError(t, err)
	require.NoError(t, r.process.Wait(), r.stderr.String())
	require.NoError(t, json.Unmarshal(text, &result), "%s", text)
	return result
}

// children are the processes that one has started.
func children(t *testing.T, pid int) (all []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, list := range lists {
		text, err := os.ReadFile(list)
		require.NoError(t, err)
		for word := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(word)
			require.NoError(t, err)
			all = append(all, child)
		}
	}
	return all
}

// listening are the ports on which processes listen.
func listening(t *testing.T, pids []int) (ports []int) {
	t.Helper()
	var sockets []string
	for _, pid := range pids {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		require.NoError(t, err)
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil {
				sockets = append(sockets, target)
			}
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	require.NoError(t, err)
	six, err := os.ReadFile("/proc/net/tcp6")
	if err == nil {
		table = append(table, six...)
	}
	for line := range strings.Lines(string(table)) {
		// sl local_address rem_address st ... inode
		columns := strings.Fields(line)
		if len(columns) < 10 || columns[3] != "0A" || !slices.Contains(sockets, "socket:["+columns[9]+"]") {
			continue
		}
		address, hex, _ := strings.Cut(columns[1], ":")
		require.Equal(t, "0100007F", address, "127.0.0.1 alone")
		port, err := strconv.ParseInt(hex, 16, 32)
		require.NoError(t, err)
		ports = append(ports, int(port))
	}
	return ports
}

// attack is what a stranger tries, loot what came of it.
type attack struct {
	Ports     []int    `json:"ports"`
	PIDs      []int    `json:"pids"`
	Files     []string `json:"files"`
	Execution string   `json:"execution"`
}

type loot struct {
	Refused int      `json:"refused"`
	Broken  []string `json:"broken"`
}

// strange lets a process without the secret attack, of another user if this one
// may start it.
func strange(t *testing.T, open string, a attack) (found loot) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(self)
	require.NoError(t, err)
	binary := filepath.Join(open, "stranger")
	require.NoError(t, os.WriteFile(binary, program, 0o755))
	process := exec.CommandContext(t.Context(), binary)
	process.Args, process.Env = []string{"stranger"}, []string{"HOME=/"}
	if os.Getuid() == 0 {
		process.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	} else {
		a.Files, a.PIDs = nil, nil // its own
	}
	task, err := json.Marshal(a)
	require.NoError(t, err)
	process.Stdin = bytes.NewReader(task)
	output, err := process.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NoError(t, json.Unmarshal(output, &found), "%s", output)
	return found
}

// attempts are the requests of a stranger who knows all but the secret.
func attempts(execution string) (all []*http.Request) {
	record := "/jobpoller/jobpoller/arn:aws:states:us-east-1:123456789012:execution:jobpoller:" + execution + "/default/_/record.json"
	for _, target := range []string{
		"GET /", "GET /jobpoller?list-type=2", "GET " + record, "PUT " + record, "DELETE " + record, "POST /jobpoller?delete", "PUT /mine",
		"PUT /jobpoller/jobpoller/jobs/x.json",
		"POST /2015-03-31/functions/jobpoller-sample-job/invocations",
		"GET /2018-06-01/runtime/invocation/next", "POST /2018-06-01/runtime/invocation/x/response", "POST /2018-06-01/runtime/invocation/x/error",
		"GET /_jobpoller/", "GET /_jobpoller/live", "GET /_jobpoller/events", "GET /_jobpoller/health", "GET /_jobpoller/clock", "GET /_jobpoller/?token=x",
		"POST /_jobpoller/clock", "POST /_jobpoller/act/stop", "POST /",
		"POST /2018-06-01/runtime/init/error", "GET //2018-06-01/runtime/invocation/next", "GET /%2e/2018-06-01/runtime/invocation/next",
	} {
		method, path, _ := strings.Cut(target, " ")
		for _, set := range []func(*http.Request){
			func(*http.Request) {},
			func(r *http.Request) { r.Host = "evil.example" },
			func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			func(r *http.Request) {
				r.Method = http.MethodOptions
				r.Header.Set("Origin", "https://evil.example")
				r.Header.Set("Access-Control-Request-Method", method)
			},
			func(r *http.Request) {
				day := time.Now().UTC().Format("20060102")
				r.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
				r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
				r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/"+day+"/us-east-1/s3/aws4_request, "+
					"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="+strings.Repeat("0", 64))
			},
		} {
			r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(`{"status":"FAILED"}`))
			if err != nil {
				panic(err)
			}
			if path == "/" && method == http.MethodPost {
				r.Header.Set("X-Amz-Target", "AWSStepFunctions.ListStateMachines")
			}
			set(r)
			all = append(all, r)
		}
	}
	return all
}

// stranger is the main function of the process that attacks.
func stranger() {
	var a attack
	if err := json.NewDecoder(os.Stdin).Decode(&a); err != nil {
		panic(err)
	}
	found := loot{Broken: []string{}}
	for _, port := range a.Ports {
		found.send(port, a.Execution)
		found.call(port)
	}
	for _, pid := range a.PIDs {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
			found.broke("environment of %d: %s", pid, text)
		}
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && bytes.Contains(text, []byte("SECRET")) {
			found.broke("command line of %d: %s", pid, text)
		}
	}
	for _, file := range a.Files {
		found.open(file)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}

func (l *loot) broke(format string, args ...any) {
	l.Broken = append(l.Broken, fmt.Sprintf(format, args...))
}

// send sends requests that nobody has signed.
func (l *loot) send(port int, execution string) {
	client := &http.Client{Timeout: 2 * time.Second} // to wait for an event is to get it
	for _, r := range attempts(execution) {
		r.URL.Host += ":" + strconv.Itoa(port)
		answer, err := client.Do(r)
		if err != nil {
			l.broke("%s %s was not refused: %v", r.Method, r.URL, err)
			continue
		}
		_ = answer.Body.Close()
		for header := range answer.Header {
			if strings.HasPrefix(header, "Access-Control") {
				l.broke("%s %s: header %s", r.Method, r.URL, header)
			}
		}
		if answer.StatusCode < 400 || answer.StatusCode >= 500 {
			l.broke("%s %s: status %d", r.Method, r.URL, answer.StatusCode)
			continue
		}
		l.Refused++
	}
}

// call sends requests that are signed with keys that everybody would try.
func (l *loot) call(port int) {
	config := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String("http://127.0.0.1:" + strconv.Itoa(port)),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), RetryMaxAttempts: 1,
	}
	if _, err := s3.NewFromConfig(config).ListBuckets(context.Background(), nil); err == nil {
		l.broke("port %d lists buckets", port)
	}
	invocation := &lambda.InvokeInput{FunctionName: aws.String("jobpoller-sample-job")}
	if _, err := lambda.NewFromConfig(config).Invoke(context.Background(), invocation); err == nil {
		l.broke("port %d invokes", port)
	}
}

func (l *loot) open(file string) {
	if _, err := os.ReadFile(file); err == nil {
		l.broke("reads %s", file)
	}
	if err := os.WriteFile(file, nil, 0o600); err == nil {
		l.broke("writes %s", file)
	}
	if _, err := os.ReadDir(file); err == nil {
		l.broke("lists %s", file)
	}
}
