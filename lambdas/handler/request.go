package handler

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// maxWaitLimit is the longest that a Standard execution may last.
const maxWaitLimit = 365 * 24 * time.Hour

// maxDwell is the longest that an invocation of a Lambda function may last.
const maxDwell = 15 * time.Minute

// The values of Request.OnTimeout.
const (
	onTimeoutStop  = "stop"
	onTimeoutLeave = "leave"
)

// The values of Request.OnRunning.
const (
	onRunningReturn = "return"
	onRunningError  = "error"
	onRunningDelay  = "delay"
)

// Request asks RunJob for a job and says how to wait for it. It is kept in the
// start record, where CheckStatus finds it: of the arguments only their hash.
type Request struct {
	Job            string           `json:"job"`
	MaxWaitSeconds int              `json:"maxWaitSeconds"`
	WaiterName     string           `json:"waiterName"`
	Waiter         *pollcore.Waiter `json:"waiter"`
	// MaxDelay is the longest delay, in seconds, if it is not the waiter's.
	MaxDelay int `json:"maxDelay,omitempty"`
	// InitialDelay is the wait before the first check, in seconds.
	InitialDelay int `json:"initialDelay"`
	// Planned has all delays instead.
	Planned *pollcore.Planned `json:"schedule,omitempty"`
	// OnRunning is "return" (the status RUNNING), "error" (ErrorRunning) or "delay"
	// (ErrorRunning with the delay, which Planned has).
	OnRunning string `json:"onRunning"`
	// EndAs is "status" (FAILED and TIMED_OUT are returned) or "error"
	// (ErrorFailed and ErrorTimedOut are raised).
	EndAs string `json:"endAs"`
	// OnTimeout is "stop" (a job whose time is up is stopped) or "leave".
	OnTimeout string `json:"onTimeout"`
	// DwellSeconds is how long one invocation of CheckStatus may poll.
	DwellSeconds int `json:"dwellSeconds,omitempty"`

	arguments json.RawMessage
	hash      string
	// dropped is why the job cannot be started, though one that was is looked after.
	dropped error
}

// Schedule says when the job with the start record of a key is polled, and until when.
// The key's hash draws a jitter, so that each invocation polls by the same one.
func (q *Request) Schedule(key startrecord.Key) pollcore.Schedule {
	s := pollcore.NewSchedule(q.Waiter, time.Duration(q.MaxWaitSeconds)*time.Second)
	s.Initial = time.Duration(q.InitialDelay) * time.Second
	if q.MaxDelay > 0 {
		s.Max = time.Duration(q.MaxDelay) * time.Second
	}
	if q.Planned != nil {
		drawn := q.Planned.Draw(func(_, hi time.Duration) time.Duration { return drawByKey(key, hi) })
		s.Planned = &drawn
	}
	return s
}

// drawByKey draws whole seconds up to hi, evenly over keys and always the same for one.
func drawByKey(key startrecord.Key, hi time.Duration) time.Duration {
	sum := sha256.Sum256([]byte("jitter\n" + key.Path()))
	steps := uint64(hi/time.Second) + 1                                       //nolint:gosec // not negative
	return time.Duration(binary.BigEndian.Uint64(sum[:])%steps) * time.Second //nolint:gosec // below hi
}

// parseRequest reads the request in the JSON form of the Lambda contract. All
// problems are reported at once, as a *Error.
func (p *Handler) parseRequest(n *jsontree.Node) (*Request, jobs.Driver, error) {
	if n == nil {
		return nil, nil, fail(ErrorInvalidRequest, `the event has no request: pass it as "Input", or as the input of the execution`)
	}
	q := &Request{OnRunning: onRunningReturn, EndAs: "status", arguments: json.RawMessage("{}")}
	r := jsontree.Reader{HideStrings: true}
	var words jsontree.Reader // of members whose values are this contract's own, so no secrets
	var minDelay int
	var waiter *jsontree.Node
	n.Drop(parentPrefix)
	r.Object(n, "a request", map[string]func(*jsontree.Node){
		"job":            r.Text(&q.Job),
		"arguments":      func(n *jsontree.Node) { q.arguments = object(&r, n) },
		"maxWaitSeconds": r.Int(&q.MaxWaitSeconds, 1, int(maxWaitLimit/time.Second)),
		"waiter":         func(n *jsontree.Node) { waiter = n },
		"minDelay":       r.Int(&minDelay, 1, int(maxWaitLimit/time.Second)),
		"maxDelay":       r.Int(&q.MaxDelay, 1, int(maxWaitLimit/time.Second)),
		"initialDelay":   r.Int(&q.InitialDelay, 0, int(maxWaitLimit/time.Second)),
		"schedule":       readSchedule(&r, &q.Planned),
		"onTimeout":      words.OneOf(&q.OnTimeout, onTimeoutStop, onTimeoutLeave),
		"onRunning":      words.OneOf(&q.OnRunning, onRunningReturn, onRunningError, onRunningDelay),
		"endAs":          words.OneOf(&q.EndAs, "status", "error"),
		"dwellSeconds":   r.Int(&q.DwellSeconds, 0, int(maxDwell/time.Second)),
	}, "job", "maxWaitSeconds")
	if err := slices.Concat(r.Problems, words.Problems).Err(); err != nil {
		return nil, nil, invalid(err)
	}
	driver, err := p.Jobs.Driver(q.Job)
	if err != nil {
		q.dropped = unknownJob(err)
		if driver, err = p.Jobs.PollDriver(q.Job); err != nil {
			return nil, nil, q.dropped
		}
	}
	_, stoppable := driver.(jobs.Stopper)
	switch {
	case q.OnTimeout == onTimeoutStop && !stoppable:
		return nil, nil, invalid(diag.Problems{n.Get("onTimeout").Problem("the driver of %s cannot stop jobs: use leave, or remove this member", word(q.Job))})
	case q.OnTimeout == "" && stoppable:
		q.OnTimeout = onTimeoutStop
	case q.OnTimeout == "":
		q.OnTimeout = onTimeoutLeave
	}
	q.Waiter = driver.Waiter()
	if waiter != nil {
		if q.Waiter, err = parseWaiter(waiter); err != nil {
			failure := invalid(fmt.Errorf("waiter of the request: %w", err))
			failure.ownWords = "waiter of the request: " + causeOf(err)
			return nil, nil, failure
		}
	}
	q.setDelays(minDelay)
	if err := q.validate(n, p.Config); err != nil {
		return nil, nil, invalid(err)
	}
	if q.hash, err = hash(n); err != nil {
		return nil, nil, invalid(err)
	}
	return q, driver, nil
}

// readSchedule reads a planned schedule. Its problems have their places in the request, and
// no text of it, which may be a secret.
func readSchedule(r *jsontree.Reader, to **pollcore.Planned) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		planned, err := pollcore.ParsePlanned(n.Raw())
		if err == nil {
			*to = &planned
			return
		}
		problems, _ := errors.AsType[diag.Problems](err)
		for _, problem := range problems {
			at := n.Nearest(n.Pointer() + problem.Pointer)
			message := problem.Message
			if at.Kind == jsontree.String {
				message = strings.ReplaceAll(message, at.Describe(), at.Kind.String())
			}
			here := at.Problem("%s", message)
			here.Suggestion, here.OwnWords = problem.Suggestion, problem.OwnWords
			r.Report(here)
		}
	}
}

// parseWaiter reads the waiter of a request. Where a path is wrong, its problem
// has no place in the request but one in the path, so that is shown.
func parseWaiter(n *jsontree.Node) (*pollcore.Waiter, error) {
	w, err := pollcore.ParseWaiter("Waiter", n.Raw())
	if err != nil {
		return nil, err
	}
	var wrong diag.Problems
	for _, p := range pollcore.Analyze(w, reflect.TypeFor[jobs.Ref](), nil) {
		if p.Severity == diag.Warning {
			continue
		}
		if p.Source != "" {
			p.Message += fmt.Sprintf(", at character %d of %q", p.Column, p.Source)
		}
		wrong = append(wrong, p)
	}
	return w, wrong.Err()
}

// parentPrefix is what the members begin with that a parent execution adds to the
// input of a nested one, such as AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID
// (https://docs.aws.amazon.com/step-functions/latest/dg/concepts-nested-workflows.html).
// They are for Step Functions' console, and ask nothing of a function.
const parentPrefix = "AWS_STEP_FUNCTIONS_"

// object returns the text of a JSON object: as it is, but for the members of a parent
// execution, which are there where the whole input is the arguments.
func object(r *jsontree.Reader, n *jsontree.Node) json.RawMessage {
	if n.Kind != jsontree.Object {
		r.Report(n.Problem("expected an object, found %s", n.Kind))
	}
	given := len(n.Members)
	n.Drop(parentPrefix)
	if len(n.Members) == given {
		return n.Raw()
	}
	text, err := json.Marshal(n.Value())
	if err != nil {
		r.Report(n.Problem("%v", err))
	}
	return text
}

// setDelays replaces the waiter's delays by those of the request.
func (q *Request) setDelays(minDelay int) {
	w := *q.Waiter
	if minDelay > 0 {
		w.MinDelay = minDelay
	}
	if q.MaxDelay > 0 {
		w.MaxDelay = q.MaxDelay
	} else if minDelay > cmp.Or(w.MaxDelay, pollcore.DefaultMaxDelay) {
		w.MaxDelay = minDelay
	}
	q.Waiter, q.WaiterName = &w, w.Name
}

// validate checks what the members of the request n say together.
func (q *Request) validate(n *jsontree.Node, cfg Config) error {
	if _, err := q.compile(); err != nil {
		return err
	}
	var problems diag.Problems
	maxWait := n.Get("maxWaitSeconds")
	wait := time.Duration(q.MaxWaitSeconds) * time.Second
	switch {
	case cfg.MaxWait > 0 && wait > cfg.MaxWait:
		problems = append(problems, maxWait.Problem("maxWaitSeconds must be at most %d, the longest wait of this function, is %d",
			seconds(cfg.MaxWait), q.MaxWaitSeconds))
	case wait+redriveWindow >= cfg.Retention:
		problems = append(problems, maxWait.Problem("maxWaitSeconds (%d) is too long: the start record is kept for %s, and must outlive the wait by 14 days; "+
			"raise the retention or wait less", q.MaxWaitSeconds, cfg.Retention))
	}
	if q.InitialDelay > q.MaxWaitSeconds {
		problems = append(problems, n.Get("initialDelay").Problem("initialDelay (%d) must not be above maxWaitSeconds (%d)", q.InitialDelay, q.MaxWaitSeconds))
	}
	if q.Planned == nil {
		if q.OnRunning == onRunningDelay {
			problems = append(problems, n.Get("onRunning").Problem("delay needs a schedule, whose delays the errors name: add schedule, or use error"))
		}
		return problems.Err()
	}
	for _, name := range []string{"initialDelay", "minDelay", "maxDelay"} {
		if other := n.Get(name); other != nil {
			problems = append(problems, other.Problem("schedule has all delays: remove %s, or schedule", word(name)))
		}
	}
	if first := q.Planned.Before(1) + q.Planned.Jitter; first > wait {
		problems = append(problems, n.Get("schedule").Problem("the first delay (%d) must not be above maxWaitSeconds (%d)", seconds(first), q.MaxWaitSeconds))
	}
	return problems.Err()
}

func (q *Request) compile() (*pollcore.Check[jobs.Ref, any], error) {
	return pollcore.Compile[jobs.Ref, any](q.Waiter)
}

// loadRequest reads the request that RunJob kept in the record.
func loadRequest(text json.RawMessage) (*Request, error) {
	var q Request
	if err := json.Unmarshal(jsontree.DigitsOnly(text), &q); err != nil {
		return nil, err
	}
	if q.Waiter == nil {
		return nil, errors.New("it has no waiter")
	}
	if q.OnRunning == onRunningDelay && q.Planned == nil {
		return nil, fmt.Errorf("it has onRunning %q and no schedule", q.OnRunning)
	}
	q.Waiter.Name = q.WaiterName
	return &q, nil
}

// hash is the same for requests that differ in white space and order alone.
func hash(n *jsontree.Node) (string, error) {
	canonical, err := json.Marshal(n.Value())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}
