package poller_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// store is a startrecord.Store that notes its calls and gives them their fate.
type store struct {
	startrecord.Store

	mu    sync.Mutex
	calls []string
}

var errUnanswered = fmt.Errorf("%w: no answer", startrecord.ErrUnavailable)

func (s *store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	s.note("Create")
	return operate(ctx, "Create", errUnanswered, nil, func() (startrecord.Stored, error) { return s.Store.Create(ctx, key, rec) })
}

func (s *store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	s.note("Load")
	return operate(ctx, "Load", errUnanswered, nil, func() (startrecord.Stored, error) { return s.Store.Load(ctx, key) })
}

func (s *store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	s.note("Replace")
	return operate(ctx, "Replace", errUnanswered, nil, func() (startrecord.Stored, error) { return s.Store.Replace(ctx, key, rec, version) })
}

func (s *store) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

// take returns the calls since the last take.
func (s *store) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := strings.Join(s.calls, " ")
	s.calls = nil
	return calls
}
