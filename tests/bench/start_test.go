package bench_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"time"
)

// startLimit is how long Lambda waits for a function's first request.
const startLimit = 10 * time.Second

// start is a function that is started, with variables of its own.
type start struct {
	binary string
	env    []string
}

// startTimes returns the median time from the start of each function to its first
// request for an event. They are started in turn, after a run that is not
// measured, so that what else the machine does meets them alike.
func startTimes(ctx context.Context, starts []start, runs int) ([]time.Duration, error) {
	times := make([][]time.Duration, len(starts))
	for run := range runs + 1 {
		for i, s := range starts {
			took, err := startTime(ctx, s)
			if err != nil {
				return nil, err
			}
			if run > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	medians := make([]time.Duration, len(starts))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[len(t)/2]
	}
	return medians, nil
}

// startTime runs a function in the environment of Lambda until it asks for its
// first event, which it does not get.
func startTime(ctx context.Context, s start) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	asked := make(chan time.Time, 1)
	server := &http.Server{ReadHeaderTimeout: startLimit, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		now := time.Now()
		if r.Method == http.MethodGet && r.URL.Path == "/2018-06-01/runtime/invocation/next" {
			asked <- now
		}
		<-r.Context().Done()
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		_ = server.Close() // its end is an error too
		<-served
	}()

	var log bytes.Buffer
	command := exec.CommandContext(ctx, s.binary)
	command.Env = append(append(functionEnvironment(), s.env...), "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String())
	command.Stdout, command.Stderr = &log, &log
	began := time.Now()
	if err := command.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case at := <-asked:
		cancel()
		<-ended
		return at.Sub(began), nil
	case err := <-ended:
		return 0, fmt.Errorf("%s ended before it asked for an event: %w\n%s", s.binary, errors.Join(err, ctx.Err()), &log)
	}
}

// functionEnvironment is what every function is given: what Lambda sets, and
// the bucket.
func functionEnvironment() []string {
	return []string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_SESSION_TOKEN=local",
		"JOBPOLLER_BUCKET=records",
	}
}
