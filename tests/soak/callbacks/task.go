package callbacks

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// tasks are the Tasks of the execution, by their tokens.
type tasks struct{ world *world }

var taskFaults = []fault{lostBefore, lostAfter, throttled, slow, diesBefore, diesAfter}

// tokens say which wait a token is of; nil if nobody waits for it any more.
type tokens struct {
	mu       sync.Mutex
	of       map[string]*wait
	answered map[string]string // what was the answer
}

func (w *world) expect(t *wait, token string) {
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	if w.tokens.of == nil {
		w.tokens.of, w.tokens.answered = map[string]*wait{}, map[string]string{}
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
	return callFor(ctx, "SendTask", taskFaults, func() error {
		tokens := &s.world.tokens
		tokens.mu.Lock()
		defer tokens.mu.Unlock()
		t := tokens.of[token]
		if t == nil {
			s.compare(token, status)
			return &smithy.GenericAPIError{Code: "TaskTimedOut", Message: "Task Timed Out", Fault: smithy.FaultClient}
		}
		tokens.of[token], tokens.answered[token] = nil, status
		if t.answers = append(t.answers, answer{time.Now(), status}); len(t.answers) == 1 {
			close(t.answered)
		}
		return nil
	})
}

// compare compares another answer with the one that a Task got. They are the same, unless
// the functions gave the job up, which no record says.
func (s *tasks) compare(token, status string) {
	before, answered := s.world.tokens.answered[token]
	if !answered {
		return
	}
	s.world.counts.Add("answers that came again")
	if status != before && status != handler.ErrorServiceUnavailable && before != handler.ErrorServiceUnavailable {
		s.world.violation("%s was answered %s, and then %s", token, before, status)
	}
}
