package awsjob

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// discovered are the endpoints that services have given, by service. They are safe
// for concurrent use.
type discovered struct {
	mu    sync.Mutex
	known map[*catalog.Service]discoveredEndpoint
}

type discoveredEndpoint struct {
	url   *url.URL
	until time.Time
}

// discover asks a service for the endpoint of its other operations, and keeps it for as
// long as the service says. Two calls at once may both ask.
func (c *Client) discover(ctx context.Context, op *catalog.Operation) (*url.URL, error) {
	c.discovered.mu.Lock()
	known := c.discovered.known[op.Service]
	c.discovered.mu.Unlock()
	if known.url != nil && time.Now().Before(known.until) {
		return known.url, nil
	}
	ask := op.Service.Operations[catalog.EndpointOperation]
	if ask == nil {
		lack := "the service gives its endpoint only through " + catalog.EndpointOperation + ", which its model does not have"
		return nil, &UnsupportedError{Operation: operationName(op), Lack: lack, Advice: useTheSDK}
	}
	answer, err := c.Call(ctx, ask, nil)
	if err != nil {
		return nil, fmt.Errorf("endpoint of %s: %w", operationName(op), err)
	}
	if known, err = readDiscovered(answer); err != nil {
		return nil, fmt.Errorf("endpoint of %s: %w", operationName(op), err)
	}
	c.discovered.mu.Lock()
	defer c.discovered.mu.Unlock()
	if c.discovered.known == nil {
		c.discovered.known = map[*catalog.Service]discoveredEndpoint{}
	}
	c.discovered.known[op.Service] = known
	return known.url, nil
}

// readDiscovered reads the first endpoint of an answer.
func readDiscovered(answer any) (discoveredEndpoint, error) {
	object, _ := answer.(map[string]any)
	list, _ := object["Endpoints"].([]any)
	if len(list) == 0 {
		return discoveredEndpoint{}, fmt.Errorf("%w: it has no endpoint", ErrAnswer)
	}
	first, _ := list[0].(map[string]any)
	text, _ := first["Address"].(string)
	minutes, _ := first["CachePeriodInMinutes"].(json.Number)
	count, _ := minutes.Int64() // 0 for none
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := awscall.ParseEndpoint(text)
	if err != nil {
		return discoveredEndpoint{}, fmt.Errorf("%w: the endpoint %w", ErrAnswer, err)
	}
	return discoveredEndpoint{u, time.Now().Add(time.Duration(min(max(count, 1), 24*60)) * time.Minute)}, nil
}
