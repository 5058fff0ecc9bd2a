package handler_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// babble draws what may go wrong, and quotes the values of a request wherever somebody
// other than the handlers speaks.
type babble struct {
	mu     sync.Mutex
	draw   *rand.Rand
	values []string
}

func (b *babble) intN(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.draw.IntN(n)
}

// secret draws a text that nobody else has, and digits a number.
func (b *babble) secret() string { return b.keep("Zq" + strconv.FormatInt(b.draw.Int64(), 36)) }

func (b *babble) digits() json.Number {
	return json.Number(b.keep(strconv.Itoa(100_000_000 + b.draw.IntN(1_000_000_000))))
}

func (b *babble) keep(value string) string {
	b.values = append(b.values, value)
	return value
}

func (b *babble) quote() string { return strings.Join(b.values, " ") }

// refusal is an error of a service, as AWS spells it, and one that may pass.
func (b *babble) refusal(operation string) error {
	codes := []string{"AccessDeniedException", "AccessDeniedException", "ValidationException", "ThrottlingException", "InternalServerError"}
	fault := smithy.FaultClient
	code := codes[b.intN(len(codes))]
	if code == "InternalServerError" {
		fault = smithy.FaultServer
	}
	said := "User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized to perform: test:" + operation + " on resource: " + b.quote()
	if b.intN(2) == 0 {
		said = b.quote() + " is not authorized to perform: " + strings.ToLower(b.values[0]) + ":" + b.values[0]
	}
	return &smithy.OperationError{
		ServiceID: "Test", OperationName: operation, Err: &smithy.GenericAPIError{Code: code, Message: said, Fault: fault},
	}
}

// err draws an error of a call, or none: of a hundred calls that many fail.
func (b *babble) err(operation string, percent int) error {
	if b.intN(100) >= percent {
		return nil
	}
	switch b.intN(6) {
	case 0:
		return errors.New(b.quote())
	case 1:
		return goerror.Mark(awserror.NotSent, errors.New(b.quote()))
	case 2:
		panic(b.quote())
	default:
		return b.refusal(operation)
	}
}

// babbler is a driver with a service that quotes the request.
type babbler struct {
	jobs.Driver
	*babble
}

// accepted are what the driver takes as arguments; the request has others.
type accepted struct {
	Name, Mode *string
	Count      *int32
	When       *time.Time
	Data       []byte
	Flags      []bool
	Labels     map[string]string
}

func (babbler) Permissions() []access.Permission {
	return []access.Permission{{Action: "test:Describe", For: access.ForDescribe}, {Action: "test:Start", For: access.ForStart}}
}

func (b babbler) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	switch b.intN(6) {
	case 0:
		if _, err := jobs.Arguments[accepted](jobName, r.Arguments, jobs.Require("Mode"), jobs.Reserve("Token")); err != nil {
			return nil, err
		}
	case 1:
		return nil, fmt.Errorf("%w: %s", jobs.ErrArguments, b.quote())
	}
	if err := b.err("Start", 30); err != nil {
		return nil, err
	}
	return b.Driver.Start(ctx, r)
}

func (b babbler) Describe(context.Context, jobs.Ref) (any, error) {
	if err := b.err("Describe", 20); err != nil {
		return nil, err
	}
	states := []string{"RUNNING", "RUNNING", "DONE", "BROKEN", b.values[0]}
	return map[string]any{"State": states[b.intN(len(states))], "Why": b.quote(), "Rows": b.values}, nil
}

func (b babbler) DescribeBatch(context.Context, []jobs.Ref) ([]any, error) {
	return nil, b.err("DescribeBatch", 100)
}

func (b babbler) Stop(context.Context, jobs.Ref) error { return b.err("Stop", 50) }

func (b babbler) JobIDs(ref jobs.Ref) ([]string, error) {
	if b.intN(10) == 0 {
		return nil, errors.New(b.quote())
	}
	return announcing{}.JobIDs(ref)
}

func (babbler) ReadEvent(event map[string]any) (string, bool) { return announcing{}.ReadEvent(event) }

func (babbler) Batch(ref jobs.Ref) (jobs.Batch, error) { return announcing{}.Batch(ref) }

// babblingStore fails now and then.
type babblingStore struct {
	startrecord.Indexed
	*babble
}

func (s *babblingStore) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	if err := s.fail(key); err != nil {
		return startrecord.Stored{}, err
	}
	return s.Indexed.Create(ctx, key, rec)
}

func (s *babblingStore) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if err := s.fail(key); err != nil {
		return startrecord.Stored{}, err
	}
	stored, err := s.Indexed.Load(ctx, key)
	if err == nil && s.intN(30) == 0 {
		broken := fmt.Appendf(nil, "[%q]", s.quote())
		if s.intN(2) == 0 {
			stored.Record.JobRef = broken
		} else {
			stored.Record.Request = broken
		}
	}
	return stored, err
}

func (s *babblingStore) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	if err := s.fail(key); err != nil {
		return startrecord.Stored{}, err
	}
	return s.Indexed.Replace(ctx, key, rec, version)
}

func (s *babblingStore) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	if err := s.fail(key); err != nil {
		return startrecord.Stored{}, err
	}
	return s.Indexed.ReplaceIndexed(ctx, key, rec, version)
}

func (s *babblingStore) Find(ctx context.Context, jobID string) (startrecord.Key, error) {
	if err := s.fail(key); err != nil {
		return startrecord.Key{}, err
	}
	return s.Indexed.Find(ctx, jobID)
}

func (s *babblingStore) fail(key startrecord.Key) error {
	if s.intN(12) > 0 {
		return nil
	}
	kinds := []error{startrecord.ErrUnavailable, startrecord.ErrConfiguration, startrecord.ErrMalformed, startrecord.ErrVersion}
	kind := kinds[s.intN(len(kinds))]
	if s.intN(2) == 0 {
		return &startrecord.StoreError{Kind: startrecord.ErrConfiguration, Location: s.Location(key), Remedy: "create the table", Err: s.refusal("PutItem")}
	}
	return fmt.Errorf("%w: %s", kind, s.quote())
}

// babblingQueue and babblingTasks do not always take what they are given.
type babblingQueue struct {
	handler.Queue
	*babble
}

func (q babblingQueue) Send(ctx context.Context, messages []handler.Message) []error {
	if q.intN(15) == 0 {
		return slices.Repeat([]error{q.refusal("SendMessageBatch")}, len(messages))
	}
	return q.Queue.Send(ctx, messages)
}

type babblingTasks struct {
	handler.Tasks
	*babble
}

func (s babblingTasks) Succeed(ctx context.Context, token string, output json.RawMessage) error {
	if s.intN(15) == 0 {
		return s.refusal("SendTaskSuccess")
	}
	return s.Tasks.Succeed(ctx, token, output)
}

func (s babblingTasks) Fail(ctx context.Context, token, name, cause string) error {
	if s.intN(15) == 0 {
		return s.refusal("SendTaskFailure")
	}
	return s.Tasks.Fail(ctx, token, name, cause)
}

// value draws a value of any type.
func (b *babble) value() any {
	switch b.draw.IntN(6) {
	case 0:
		return b.digits()
	case 1:
		return []any{b.secret(), b.digits()}
	case 2:
		return map[string]any{"Inner": b.secret(), "More": b.digits()}
	case 3:
		return base64.StdEncoding.EncodeToString([]byte(b.secret()))
	default:
		return b.secret()
	}
}

// request draws a request whose arguments, and sometimes other members, have values that
// the log must not show. That of job is no such value.
func (b *babble) request() string {
	arguments := map[string]any{"Password": b.secret(), "Token": b.secret()}
	for _, name := range []string{"Name", "Count", "When", "Data", "Flags", "Labels", "Unheard"} {
		if b.draw.IntN(3) > 0 {
			arguments[name] = b.value()
		}
	}
	request := map[string]any{"job": jobName, "maxWaitSeconds": 60, "arguments": arguments}
	for name, value := range map[string]func() any{
		"endAs":     func() any { return "error" },
		"onRunning": func() any { return "error" },
		"onTimeout": func() any { return b.value() },
		"argument":  b.value,
		"arguments": b.value,
		"minDelay":  b.value,
		"schedule":  func() any { return map[string]any{"delays": b.value(), "then": b.value()} },
		"waiter": func() any {
			return map[string]any{"acceptors": []any{
				map[string]any{"state": "success", "matcher": map[string]any{"output": map[string]any{"path": "State", "expected": b.values[0], "comparator": "stringEquals"}}},
				map[string]any{"state": "failure", "matcher": map[string]any{"output": map[string]any{"path": "State", "expected": "BROKEN", "comparator": "stringEquals"}}},
			}}
		},
		"job": func() any { return "test:Jib" },
	} {
		often := map[string]int{"endAs": 3, "waiter": 4, "onRunning": 5}[name]
		if b.draw.IntN(max(often, 20)) < max(1, often/3) && (often > 0 || b.draw.IntN(3) == 0) {
			request[name] = value()
		}
	}
	if b.draw.IntN(30) == 0 {
		request["waiter"] = map[string]any{"acceptors": []any{b.value(), map[string]any{"state": b.value(), "matcher": map[string]any{"errorType": b.value()}}}}
	}
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// contained calls a handler, whose driver may panic, as the Lambda runtime does.
func contained(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic")
		}
	}()
	return call()
}

// Whatever happens, no line of the log and no metric holds a value of the request, but for
// the id that the job is found by. What a service, a driver, a store or a record says may
// quote any: it is not for the log.
func TestLogHoldsNoValueOfARequest(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(3000) {
		b := &babble{draw: rand.New(rand.NewPCG(seed, 1))}
		asked := b.request()
		var log bytes.Buffer
		class := slices.Sorted(maps.Keys(classes))[b.draw.IntN(len(classes))]
		w := newCollectWorld(t, class, func(c *handler.Config) {
			c.Log = slog.New(slog.NewJSONHandler(&log, nil))
			c.Metrics = &handler.Metrics{Namespace: "Test", Writer: &log}
			inner, ok := c.Store.(startrecord.Indexed)
			require.True(t, ok)
			c.Store = &babblingStore{inner, b}
			c.Queue, c.Tasks = babblingQueue{c.Queue, b}, babblingTasks{c.Tasks, b}
			driver, err := c.Jobs.Driver(jobName)
			require.NoError(t, err)
			c.Jobs, err = jobs.NewRegistry(babbler{driver, b})
			require.NoError(t, err)
		})
		token := ""
		if b.draw.IntN(2) == 0 {
			token = "T1"
		}
		w.tasks.wait("T1")
		event := strings.Replace(w.event(try{token: token, request: asked}), `"Token": ""`, `"Other": ""`, 1)
		for range 6 {
			w.advance(time.Duration(b.intN(60)) * time.Second)
			if b.intN(4) == 0 {
				w.tasks.abandon("T1")
			}
			_ = contained(func() error { _, err := w.RunJob(t.Context(), json.RawMessage(event)); return err })
			if token == "" {
				_ = contained(func() error { _, err := w.CheckStatus(t.Context(), json.RawMessage(event)); return err })
				continue
			}
			_, _ = w.deliver(t.Context(), w.queue.receive(10))
			_ = w.announce(t.Context(), []string{"job-1", b.values[0]}[b.intN(2)])
		}
		for _, value := range b.values {
			require.NotContains(t, log.String(), value, "seed %d: %s", seed, asked)
			require.NotContains(t, log.String(), strings.ToLower(value), "seed %d", seed)
		}
		for line := range strings.Lines(log.String()) {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			for _, member := range []string{"msg", "error", "status"} {
				if text, ok := record[member].(string); ok {
					seen[text] = true
				}
			}
		}
	}
	for _, want := range []string{
		"run-job", "check-status", "collector", "panic", "RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT",
		handler.ErrorFailed, handler.ErrorJobStartInProgress, handler.ErrorJobStartUnknown, handler.ErrorInvalidRequest, handler.ErrorUnknownJob,
		handler.ErrorStoreUnavailable, handler.ErrorConfiguration, handler.ErrorServiceUnavailable,
		"the Task has its answer", "the Task waited no longer", "the message is to be delivered again", "events cannot tell of the job",
		"a job has started, but its start record could not be written", "the lease of the start record could not be released",
		"the number of a message could not be written; the message is valid all the same",
	} {
		require.True(t, seen[want], "nothing was logged as %q", want)
	}
}
