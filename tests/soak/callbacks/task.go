package callbacks

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/aws/smithy-go"
)

// tasks are the Tasks of the execution, by their tokens.
type tasks struct{ world *world }

var taskFaults = []fault{lostBefore, lostAfter, throttled, slow, diesBefore, diesAfter}

// tokens say which wait a token is of; nil if nobody waits for it any more.
type tokens struct {
	mu sync.Mutex
	of map[string]*wait
}

func (w *world) expect(t *wait, token string) {
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	if w.tokens.of == nil {
		w.tokens.of = map[string]*wait{}
	}
	w.tokens.of[token] = t
}

func (w *world) abandon(token string) {
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	w.tokens.of[token] = nil
}

func (w *world) abandonAll(t *wait) {
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	for token, of := range w.tokens.of {
		if of == t {
			w.tokens.of[token] = nil
		}
	}
}

func (w *world) hasAnswer(t *wait) bool {
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	return len(t.answers) > 0
}

// Succeed implements handler.Tasks.
func (s *tasks) Succeed(ctx context.Context, token string, output json.RawMessage) error {
	var result struct {
		Status string `json:"status"`
	}
	if err := json.Unmarshal(output, &result); err != nil {
		return err
	}
	return s.answer(ctx, token, result.Status)
}

// Fail implements handler.Tasks.
func (s *tasks) Fail(ctx context.Context, token, name, _ string) error {
	return s.answer(ctx, token, name)
}

func (s *tasks) answer(ctx context.Context, token, status string) error {
	return call(ctx, "SendTask", taskFaults, func() error {
		tokens := &s.world.tokens
		tokens.mu.Lock()
		defer tokens.mu.Unlock()
		t := tokens.of[token]
		if t == nil {
			return &smithy.GenericAPIError{Code: "TaskTimedOut", Message: "Task Timed Out", Fault: smithy.FaultClient}
		}
		tokens.of[token] = nil
		t.answers = append(t.answers, answer{time.Now(), status})
		return nil
	})
}
