// Package elasticmq runs an SQS server for tests: ElasticMQ, a program in Java, in a
// child process. It also delivers the messages of a queue as Lambda does. It needs Java
// and Maven and, the first time, a Maven repository.
package elasticmq

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/maven"
)

var (
	//go:embed pom.xml
	project []byte
	//go:embed sha256sums.txt
	sums string
)

// Server is a running server. Its queues are in memory.
type Server struct {
	process *exec.Cmd
	stdin   io.Closer
	read    chan struct{} // closed when the log has ended
	url     string

	closeOnce sync.Once
	closeErr  error
}

// settings let the server find a free port, and let the URLs of queues have the host of the
// request.
var settings = []string{
	"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
	"-Drest-sqs.bind-port=0", "-Drest-sqs.bind-hostname=127.0.0.1", "-Drest-sqs.sqs-limits=strict", "-Drest-stats.enabled=false",
	"-Dnode-address.host=*", "-Daws.accountId=" + account, "-Daws.region=us-east-1",
}

const account = "123456789012"

// started is the line of the log that has the port.
var started = regexp.MustCompile(`Started SQS rest server, bind address (127\.0\.0\.1:\d+)`)

// Start starts a server on a free port of the loopback interface. It ends with Close, or
// with this process.
func Start(ctx context.Context) (*Server, error) {
	folder, err := maven.Install(ctx, "elasticmq", project, sums)
	if err != nil {
		return nil, fmt.Errorf("install ElasticMQ: %w", err)
	}
	// Java does not end with the other end of its standard input, but cat does.
	arguments := append([]string{"-c", `java "$@" & trap "kill $!" EXIT; cat`, "sh"}, settings...)
	arguments = append(arguments, "-cp", filepath.Join(folder, "*"), "org.elasticmq.server.Main")
	process := exec.CommandContext(context.WithoutCancel(ctx), "sh", arguments...) //nolint:gosec // what maven has checked
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	process.Stderr = process.Stdout
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start ElasticMQ: %w", err)
	}
	s := &Server{process: process, stdin: stdin, read: make(chan struct{})}
	address := make(chan string, 1)
	failed := make(chan error, 1)
	go func() {
		defer close(s.read)
		if at, err := readAddress(output); err != nil {
			failed <- err
		} else {
			address <- at
		}
		_, _ = io.Copy(io.Discard, output) // what it logs is of no account
	}()
	select {
	case at := <-address:
		s.url = "http://" + at
		return s, nil
	case err := <-failed:
		return nil, errors.Join(fmt.Errorf("start ElasticMQ: %w; it needs Java 17", err), s.Close())
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), s.Close())
	}
}

// readAddress reads a log up to the line with the address. Its error has all other lines.
func readAddress(log io.Reader) (string, error) {
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if found := started.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], nil
		}
		all.WriteString(lines.Text() + "\n")
	}
	return "", errors.New(all.String())
}

// URL is the endpoint.
func (s *Server) URL() string { return s.url }

// Close ends the process and waits for it. Closing again does nothing.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = s.stdin.Close()
		<-s.read
		_ = s.process.Wait() // it was told to end
	})
	return s.closeErr
}
