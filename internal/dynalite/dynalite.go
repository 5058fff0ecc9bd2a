// Package dynalite runs a DynamoDB server for tests: dynalite, an npm package,
// in a child process, with a transport that adds transactions. It needs Node.js and, the first time, the npm registry.
package dynalite

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/jobpoller/jobpoller/internal/npm"
)

// What npm installs, and what node runs.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
	//go:embed server.js
	program []byte
)

// Server is a running server. Its tables are in memory.
type Server struct {
	process *exec.Cmd
	stdin   io.Closer
	url     string
	socket  *http.Transport

	closeOnce sync.Once
	closeErr  error
}

// Start starts a server on a free port of the loopback interface. It ends with
// Close, or with this process.
func Start(ctx context.Context) (_ *Server, err error) {
	folder, err := npm.Install(ctx, "dynalite", npm.Files{"package.json": manifest, "package-lock.json": lock, "server.js": program})
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(context.WithoutCancel(ctx), "node", filepath.Join(folder, "server.js")) //nolint:gosec // our own program
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start dynalite: %w: install Node.js 20 or later", err)
	}
	s := &Server{process: process, stdin: stdin, socket: &http.Transport{MaxIdleConnsPerHost: 64}}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	port, portErr := strconv.Atoi(strings.TrimSpace(line))
	if err := errors.Join(err, portErr); err != nil {
		return nil, errors.Join(fmt.Errorf("dynalite did not say its port: %w", err), s.Close())
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	return s, nil
}

// URL is the endpoint.
func (s *Server) URL() string { return s.url }

// Close ends the process and waits for it. Closing again does nothing.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.socket.CloseIdleConnections()
		s.closeErr = errors.Join(s.stdin.Close(), s.process.Wait())
	})
	return s.closeErr
}

// ClientOptions are what a client is to see of the server.
type ClientOptions struct {
	// Now is the time of the Date header of all answers; nil leaves the
	// machine's.
	Now func() time.Time
	// Transport wraps the client's transport, to inject faults; nil is none.
	Transport func(http.RoundTripper) http.RoundTripper
}

// Client returns a client with the retries of the SDK.
func (s *Server) Client(o ClientOptions) *dynamodb.Client {
	return dynamodb.NewFromConfig(s.Config(o))
}

// Config returns the configuration of a client.
func (s *Server) Config(o ClientOptions) aws.Config {
	var transport http.RoundTripper = transactions{s.socket}
	if o.Now != nil {
		transport = dated{transport, o.Now}
	}
	if o.Transport != nil {
		transport = o.Transport(transport)
	}
	return aws.Config{
		BaseEndpoint: aws.String(s.url), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  &http.Client{Transport: transport},
	}
}

// CreateTable creates a table whose partition key is a string attribute, and
// waits until it is there.
func (s *Server) CreateTable(ctx context.Context, name, partitionKey string) error {
	client := s.Client(ClientOptions{})
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &partitionKey, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &partitionKey, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		return err
	}
	active := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 10*time.Millisecond, time.Second })
	return active.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute)
}

// dated sets the Date of answers.
type dated struct {
	next http.RoundTripper
	now  func() time.Time
}

func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(r)
	if err == nil {
		response.Header.Set("Date", d.now().UTC().Format(http.TimeFormat))
	}
	return response, err
}
