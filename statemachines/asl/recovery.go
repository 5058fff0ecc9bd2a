package asl

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// reservedErrors is every error name of AWS that starts with "States.". AWS takes
// other names of that form, too, and a Fail state can raise them.
var reservedErrors = []string{
	ErrorAll, ErrorTaskFailed, ErrorTimeout, "States.HeartbeatTimeout", "States.Permissions", "States.ResultPathMatchFailure",
	"States.ReferencePathConflict", "States.ParameterPathFailure", "States.BranchFailed", "States.NoChoiceMatched",
	"States.IntrinsicFailure", "States.ExceedToleratedFailureThreshold", "States.ItemReaderFailed", "States.ResultWriterFailed",
	ErrorQueryEvaluation, "States.DataLimitExceeded", ErrorRuntime,
}

// recovery reads Retry and Catch.
func (p *parser) recovery(s *State, o *object) {
	retriers := o.list("Retry", false)
	for i, n := range retriers {
		if p.placeholder(n, true) {
			p.reading.Open = true
			s.Retry = append(s.Retry, DefaultRetrier())
		} else if r := p.open(n, "a retrier"); r != nil {
			s.Retry = append(s.Retry, p.retrier(r, i == len(retriers)-1))
		}
	}
	catchers := o.list("Catch", false)
	for i, n := range catchers {
		if p.placeholder(n, true) {
			p.references = append(p.references, n)
			s.Catch = append(s.Catch, Catcher{ResultPath: openPath, Next: n.Text})
		} else if c := p.open(n, "a catcher"); c != nil {
			s.Catch = append(s.Catch, p.catcher(c, i == len(catchers)-1))
		}
	}
}

// DefaultRetrier is a retrier that says nothing but its errors.
func DefaultRetrier() Retrier {
	return Retrier{IntervalSeconds: 1, MaxAttempts: 3, BackoffRate: 2, JitterStrategy: JitterNone}
}

// Delay is how long Step Functions waits before the n-th retry, counted from 1, in seconds: the interval,
// grown by the backoff rate with each retry, and capped. Jitter is not in it.
func (r Retrier) Delay(n int64) float64 {
	if r.IntervalSeconds == 0 {
		return 0
	}
	seconds := float64(r.IntervalSeconds) * math.Pow(r.BackoffRate, float64(n-1))
	if r.MaxDelaySeconds > 0 {
		seconds = min(seconds, float64(r.MaxDelaySeconds))
	}
	return min(seconds, max(maxRetryDelaySeconds, float64(r.IntervalSeconds))) // an execution lives for a year
}

func (p *parser) retrier(o *object, last bool) Retrier {
	r := DefaultRetrier()
	r.ErrorEquals, r.Comment = p.errorEquals(o, last), o.text("Comment")
	r.IntervalSeconds = o.integer("IntervalSeconds", 0, MaxSeconds, r.IntervalSeconds)
	r.MaxAttempts = o.integer("MaxAttempts", 0, MaxSeconds, r.MaxAttempts)
	if n := o.get("BackoffRate"); n != nil && !p.placeholder(n, true) {
		rate, err := strconv.ParseFloat(n.Text, 64)
		if n.Kind != jsontree.Number || err != nil || rate < 1 {
			p.add(n.Problem("\"BackoffRate\" must be a number of at least 1.0, found %s", n.Describe()))
		} else {
			r.BackoffRate = rate
		}
	}
	r.MaxDelaySeconds = o.integer("MaxDelaySeconds", 1, maxRetryDelaySeconds, 0)
	if r.MaxDelaySeconds > 0 && r.MaxDelaySeconds <= r.IntervalSeconds {
		p.warn(o.get("MaxDelaySeconds").Problem("\"MaxDelaySeconds\" (%d) must be greater than \"IntervalSeconds\" (%d): otherwise the interval never grows",
			r.MaxDelaySeconds, r.IntervalSeconds))
	}
	if n := o.ofKind("JitterStrategy", jsontree.String); n != nil && !p.placeholder(n, true) {
		r.JitterStrategy = JitterStrategy(n.Text)
		if strategies := []string{string(JitterFull), string(JitterNone)}; !slices.Contains(strategies, n.Text) {
			p.add(n.Problem("expected the jitter strategy \"FULL\" or \"NONE\", found %s", n.Describe()).Suggest(n.Text, strategies...))
		}
	}
	o.close()
	return r
}

func (p *parser) catcher(o *object, last bool) Catcher {
	p.extra = "errorOutput"
	defer func() { p.extra = "" }()
	c := Catcher{
		ErrorEquals: p.errorEquals(o, last),
		Comment:     o.text("Comment"),
		Assign:      o.assign(),
		Next:        o.target("Next", true),
	}
	if p.language == JSONPath {
		c.ResultPath = o.selection("ResultPath", documentPath)
	} else {
		c.Output = o.template("Output")
	}
	o.close()
	return c
}

func (p *parser) errorEquals(o *object, last bool) []string {
	nodes := o.list("ErrorEquals", true)
	var names []string
	for _, n := range nodes {
		if n.Kind != jsontree.String {
			p.add(n.Problem("expected an error name, found %s", n.Describe()))
			continue
		}
		if n.Text == "" {
			p.warn(n.Problem("the name of an error must not be empty"))
		}
		names = append(names, n.Text)
		reserved := strings.HasPrefix(n.Text, "States.") && !IsOfRequest(n.Text)
		if reserved && !slices.Contains(reservedErrors, n.Text) {
			p.warn(n.Problem("AWS has no error %q; names that start with \"States.\" are reserved for its own", n.Text).Suggest(n.Text, reservedErrors...))
		}
		if n.Text != ErrorAll {
			continue
		}
		if len(nodes) > 1 {
			p.add(n.Problem("%q must be the only name in \"ErrorEquals\"", ErrorAll))
		} else if !last {
			p.add(n.Problem("%q must be in the last item: items after it would never match", ErrorAll))
		}
	}
	return names
}
