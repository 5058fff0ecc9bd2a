package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore"
)

// answers is what Step Functions takes of SendTaskSuccess and SendTaskFailure
// (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
var answers = quota{perSecond: 500, most: 3000}

// tasks are the Tasks of executions that wait for a callback, by their tokens.
type tasks struct {
	clock *clock
	meter *meter

	mu    sync.Mutex
	waits map[string]*job // nil once it is answered
	gone  int             // answers for which nobody waited
	wrong []string
}

var _ handler.Tasks = (*tasks)(nil)

func newTasks(c *clock) *tasks {
	return &tasks{clock: c, meter: newMeter(answers), waits: map[string]*job{}}
}

// Succeed implements handler.Tasks.
func (s *tasks) Succeed(_ context.Context, token string, output json.RawMessage) error {
	var result struct {
		Status pollcore.Status `json:"status"`
	}
	if err := json.Unmarshal(output, &result); err != nil {
		return err
	}
	return s.end(token, result.Status)
}

// Fail implements handler.Tasks.
func (s *tasks) Fail(_ context.Context, token, name, cause string) error {
	return s.end(token, pollcore.Status(name+": "+cause))
}

// wait lets a Task wait for the end of a job.
func (s *tasks) wait(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[j.token] = j
}

func (s *tasks) end(token string, status pollcore.Status) error {
	now := s.clock.second.Load()
	if !s.meter.take(now) {
		return &smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded", Fault: smithy.FaultClient}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.waits[token]
	if j == nil {
		s.gone++
		return &smithy.GenericAPIError{Code: "TaskTimedOut", Message: "Task Timed Out: 'Provided task does not exist anymore'", Fault: smithy.FaultClient}
	}
	s.waits[token] = nil
	j.answeredAt = now
	if status != j.ends {
		s.wrong = append(s.wrong, fmt.Sprintf("job %d of %s: %s instead of %s", j.number, j.of.name, status, j.ends))
	}
	return nil
}
