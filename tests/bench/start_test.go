package bench_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// cost is what a start took: the time until the first request for an event, and the
// processor time until then.
type cost struct{ wall, processor time.Duration }

// measureStarts returns the costs of each function's starts. They are started in turn,
// after a run that is not measured, so that what else the machine does meets them alike,
// and in another order each time: what runs before changes what a start costs.
func measureStarts(ctx context.Context, starts []start, runs int) ([][]cost, error) {
	costs := make([][]cost, len(starts))
	order := rand.New(rand.NewPCG(1, 0))
	for run := range runs + 1 {
		for _, i := range order.Perm(len(starts)) {
			took, err := measureStart(ctx, starts[i])
			if err != nil {
				return nil, err
			}
			if run > 0 {
				costs[i] = append(costs[i], took)
			}
		}
	}
	return costs, nil
}

// medianWall is the median time of a function's starts.
func medianWall(costs []cost) time.Duration {
	times := make([]time.Duration, len(costs))
	for i, c := range costs {
		times[i] = c.wall
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// compareStarts returns how many times a peer's time and processor time a function's
// start takes: the medians of the runs, each beside its neighbour. Other work on the
// machine may raise one of them, a slower start raises both.
func compareStarts(of, peer []cost) (wall, processor float64) {
	walls, processors := make([]float64, len(of)), make([]float64, len(of))
	for i := range of {
		walls[i] = float64(of[i].wall) / float64(peer[i].wall)
		processors[i] = float64(of[i].processor) / float64(peer[i].processor)
	}
	slices.Sort(walls)
	slices.Sort(processors)
	return walls[len(walls)/2], processors[len(processors)/2]
}

// subtractStarts is compareStarts with how much longer a function's start takes.
func subtractStarts(of, peer []cost) (wall, processor time.Duration) {
	walls, processors := make([]time.Duration, len(of)), make([]time.Duration, len(of))
	for i := range of {
		walls[i], processors[i] = of[i].wall-peer[i].wall, of[i].processor-peer[i].processor
	}
	slices.Sort(walls)
	slices.Sort(processors)
	return walls[len(walls)/2], processors[len(processors)/2]
}

// measureStart runs a function in the environment of Lambda until it asks for its
// first event, which it does not get.
func measureStart(ctx context.Context, s start) (cost, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return cost{}, err
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
		return cost{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case at := <-asked:
		cancel()
		<-ended
		return cost{at.Sub(began), command.ProcessState.UserTime() + command.ProcessState.SystemTime()}, nil
	case err := <-ended:
		return cost{}, fmt.Errorf("%s ended before it asked for an event: %w\n%s", s.binary, errors.Join(err, ctx.Err()), &log)
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
