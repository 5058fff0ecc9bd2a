package runtimeapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/jobpoller/jobpoller/internal/runtimeapi"
)

// result is what an Invoke in the background returned.
type result struct {
	body []byte
	err  error
}

func invokeInBackground(ctx context.Context, f *runtimeapi.Function, event string) <-chan result {
	results := make(chan result, 1)
	go func() {
		body, err := f.Invoke(ctx, []byte(event))
		results <- result{body, err}
	}()
	return results
}

// gate is a server at which functions of the role "call" wait.
type gate struct {
	event   string   // that sends a function to the gate
	arrived chan int // process IDs
	left    chan int // process IDs of those that went without being let through
	open    chan struct{}
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{arrived: make(chan int, 9), left: make(chan int, 9), open: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		pid, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			return
		}
		g.arrived <- pid
		select {
		case <-g.open:
		case <-r.Context().Done():
			g.left <- pid
		}
	}))
	t.Cleanup(server.Close)
	g.event = strconv.Quote(server.URL)
	return g
}
