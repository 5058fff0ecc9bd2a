package external_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore"
)

// queries are the queries of Athena, and the Tasks of executions that wait for them.
type queries struct {
	// ended is called some time after a query has ended, as EventBridge's rules are.
	ended  func(q *query)
	events sync.WaitGroup // that are yet to be sent

	describes, batches, answers quota

	mu     sync.Mutex
	byText map[string]*query
	byID   map[string]*query
	tokens map[string]*query
	wrong  []string // what must not be
}

// query is a query, and the Task that waits for it.
type query struct {
	text   string
	length time.Duration
	want   pollcore.Status
	asked  bool // whether a bad end is to be an error
	told   told

	id, request    string    // request is its idempotency token
	began, end     time.Time // began is when run-job was invoked first
	stopped        bool
	token          string // of the Task's newest try
	answered       pollcore.Status
	at             time.Time // of the answer
	repeated, gone int       // answers again, and answers of earlier tries
}

// told is what becomes of the event of a query's end.
type told int

const (
	toldOnce told = iota
	toldTwice
	toldEarly
	toldNever
)

// state is the state at a time, of a query that has been started.
func (q *query) state(now time.Time) string {
	switch {
	case q.stopped:
		return "CANCELLED"
	case now.Before(q.end):
		return "RUNNING"
	case q.want == pollcore.Failed:
		return "FAILED"
	default:
		return "SUCCEEDED"
	}
}

func newQueries() *queries {
	return &queries{
		// GetQueryExecution is called 100 times a second at most, and answers of Tasks
		// are taken as in the smaller regions. AWS publishes no quota of
		// BatchGetQueryExecution: it is to be far below the other.
		describes: quota{rate: 100, burst: 100}, batches: quota{rate: 30, burst: 30}, answers: quota{rate: 300, burst: 1500},
		byText: map[string]*query{}, byID: map[string]*query{}, tokens: map[string]*query{},
	}
}

// athena is the service of the queries.
func (s *queries) athena() http.Handler {
	throttled := jobstest.Refusal{Code: "ThrottlingException", Message: "Rate exceeded"}
	return jobstest.JSONService{Version: "1.1", Target: "AmazonAthena", Operations: map[string]func(map[string]any) (any, error){
		"StartQueryExecution": s.start,
		"GetQueryExecution": func(in map[string]any) (any, error) {
			if !s.describes.take() {
				return nil, throttled
			}
			found, err := s.describe(in["QueryExecutionId"])
			return map[string]any{"QueryExecution": found}, err
		},
		"BatchGetQueryExecution": func(in map[string]any) (any, error) {
			if !s.batches.take() {
				return nil, throttled
			}
			ids, _ := in["QueryExecutionIds"].([]any)
			if len(ids) == 0 || len(ids) > 50 {
				return nil, jobstest.Refusal{Code: "InvalidRequestException", Message: fmt.Sprintf("%d ids", len(ids))}
			}
			var found []any
			for _, id := range ids {
				execution, err := s.describe(id)
				if err != nil {
					return nil, err
				}
				found = append(found, execution)
			}
			return map[string]any{"QueryExecutions": found}, nil
		},
		"StopQueryExecution": func(in map[string]any) (any, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			q, ok := s.byID[fmt.Sprint(in["QueryExecutionId"])]
			if !ok {
				return nil, jobstest.Refusal{Code: "InvalidRequestException"}
			}
			if now := time.Now(); q.state(now) == "RUNNING" {
				q.stopped, q.end = true, now
				s.tell(q)
			}
			return struct{}{}, nil
		},
	}}
}

func (s *queries) start(in map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, request := fmt.Sprint(in["QueryString"]), fmt.Sprint(in["ClientRequestToken"])
	q, ok := s.byText[text]
	switch {
	case !ok:
		return nil, jobstest.Refusal{Code: "InvalidRequestException", Message: text}
	case q.id == "":
		q.id, q.request, q.end = fmt.Sprintf("query-%d", len(s.byID)+1), request, time.Now().Add(q.length)
		s.byID[q.id] = q
		if q.want != pollcore.TimedOut {
			s.tell(q)
		}
	case q.request != request:
		s.wrong = append(s.wrong, text+" was started twice")
	}
	return map[string]any{"QueryExecutionId": q.id}, nil
}

// eventDelay is how long an event takes.
const eventDelay = 200 * time.Millisecond

// tell sends the event of the end at its time. The caller holds the lock.
func (s *queries) tell(q *query) {
	left := time.Until(q.end)
	delays := map[told][]time.Duration{toldOnce: {eventDelay}, toldTwice: {eventDelay, 3 * eventDelay}, toldEarly: {-time.Second}}[q.told]
	for _, delay := range delays {
		s.events.Add(1)
		time.AfterFunc(left+delay, func() {
			defer s.events.Done()
			s.ended(q)
		})
	}
}

func (s *queries) describe(id any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.byID[fmt.Sprint(id)]
	if !ok {
		return nil, jobstest.Refusal{Code: "InvalidRequestException", Message: fmt.Sprint("QueryExecution ", id, " was not found")}
	}
	now := time.Now()
	status := map[string]any{"State": q.state(now), "SubmissionDateTime": seconds(q.began)}
	if status["State"] != "RUNNING" {
		status["CompletionDateTime"] = seconds(q.end)
	}
	return map[string]any{"QueryExecutionId": q.id, "Query": q.text, "Status": status}, nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// wait gives the Task of a query the token of a new try.
func (s *queries) wait(q *query, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.token = token
	s.tokens[token] = q
}

// steps is Step Functions, which takes the answers of Tasks.
func (s *queries) steps() http.Handler {
	return jobstest.JSONService{Version: "1.0", Target: "AWSStepFunctions", Operations: map[string]func(map[string]any) (any, error){
		"SendTaskSuccess": func(in map[string]any) (any, error) {
			var result struct {
				Status pollcore.Status `json:"status"`
			}
			text, _ := in["output"].(string)
			if err := json.Unmarshal([]byte(text), &result); err != nil {
				return nil, jobstest.Refusal{Code: "InvalidOutput", Message: err.Error()}
			}
			return s.answer(in, result.Status, false)
		},
		"SendTaskFailure": func(in map[string]any) (any, error) {
			status, ok := map[any]pollcore.Status{"JobPoller.Failed": pollcore.Failed, "JobPoller.TimedOut": pollcore.TimedOut}[in["error"]]
			if !ok {
				status = pollcore.Status(fmt.Sprint(in["error"], ": ", in["cause"]))
			}
			return s.answer(in, status, true)
		},
	}}
}

// answer ends a Task. An answer to one that has ended has no effect.
func (s *queries) answer(in map[string]any, status pollcore.Status, isError bool) (any, error) {
	if !s.answers.take() {
		return nil, jobstest.Refusal{Code: "ThrottlingException", Message: "Rate exceeded"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token, _ := in["taskToken"].(string)
	q, ok := s.tokens[token]
	gone := jobstest.Refusal{Code: "TaskTimedOut", Message: "Task Timed Out: 'Provided task does not exist anymore'"}
	switch {
	case !ok:
		s.wrong = append(s.wrong, "no Task has the token "+token)
		return nil, jobstest.Refusal{Code: "InvalidToken"}
	case q.token != token:
		q.gone++
		return nil, gone
	case q.answered != "":
		q.repeated++
		if q.answered != status {
			s.wrong = append(s.wrong, fmt.Sprintf("%s is answered %s, and then %s", q.text, q.answered, status))
		}
		return nil, gone
	case isError != (q.asked && status != pollcore.Succeeded):
		s.wrong = append(s.wrong, fmt.Sprintf("%s is answered %s in the wrong form", q.text, status))
	}
	q.answered, q.at = status, time.Now()
	return struct{}{}, nil
}

// waiting counts the queries whose Tasks wait.
func (s *queries) waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.byText {
		if q.answered == "" {
			n++
		}
	}
	return n
}

// event is the event of a query's end.
func (q *query) event() string {
	state := strings.ToUpper(string(q.want))
	if q.want == pollcore.TimedOut {
		state = "CANCELLED"
	}
	return fmt.Sprintf(`{"version": "0", "source": "aws.athena", "detail-type": "Athena Query State Change", "region": "us-east-1", `+
		`"detail": {"versionId": "0", "currentState": %q, "previousState": "RUNNING", "queryExecutionId": %q, "workgroupName": "primary"}}`, state, q.id)
}
