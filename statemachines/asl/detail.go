package asl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// maxRetryDelay is the exclusive upper bound of MaxDelaySeconds.
const maxRetryDelay = 31_622_401

// reservedErrors is every error name of AWS that starts with "States.". Other
// names of that form are refused: they would never match.
var reservedErrors = []string{
	ErrorAll, ErrorTaskFailed, ErrorTimeout, "States.HeartbeatTimeout", "States.Permissions", "States.ResultPathMatchFailure",
	"States.ReferencePathConflict", "States.ParameterPathFailure", "States.BranchFailed", "States.NoChoiceMatched",
	"States.IntrinsicFailure", "States.ExceedToleratedFailureThreshold", "States.ItemReaderFailed", "States.ResultWriterFailed",
	"States.QueryEvaluationError", "States.DataLimitExceeded", "States.Runtime",
}

func (p *parser) task(o *object) *Task {
	t := &Task{
		Parameters:     o.template("Parameters"),
		ResultSelector: o.template("ResultSelector"),
		ResultPath:     o.selection("ResultPath", documentPath),
	}
	o.require("Resource")
	if n := o.typed("Resource", jsontree.String); n != nil {
		t.Resource = n.Text
		t.ResourcePosition = p.position(n.Pointer, n.Offset)
		if !strings.HasPrefix(n.Text, "arn:") && !strings.Contains(n.Text, "${") {
			p.add(n.Problem("expected the ARN of a resource, found %s", n.Describe()))
		}
	}
	o.unsupported("Credentials", "roles of other accounts")
	t.TimeoutSeconds = o.integer("TimeoutSeconds", 1, MaxSeconds, 0)
	t.TimeoutSecondsPath = o.path("TimeoutSecondsPath")
	t.HeartbeatSeconds = o.integer("HeartbeatSeconds", 1, MaxSeconds, 0)
	t.HeartbeatSecondsPath = o.path("HeartbeatSecondsPath")
	o.exclusive("TimeoutSeconds", "TimeoutSecondsPath")
	o.exclusive("HeartbeatSeconds", "HeartbeatSecondsPath")
	if t.TimeoutSeconds > 0 && t.HeartbeatSeconds >= t.TimeoutSeconds {
		p.add(o.get("HeartbeatSeconds").Problem("\"HeartbeatSeconds\" has to be smaller than \"TimeoutSeconds\" (%d), found %d",
			t.TimeoutSeconds, t.HeartbeatSeconds))
	}
	retriers := o.list("Retry", false)
	for i, n := range retriers {
		if r := p.open(n, "a retrier"); r != nil {
			t.Retry = append(t.Retry, p.retrier(r, i == len(retriers)-1))
		}
	}
	catchers := o.list("Catch", false)
	for i, n := range catchers {
		if c := p.open(n, "a catcher"); c != nil {
			t.Catch = append(t.Catch, p.catcher(c, i == len(catchers)-1))
		}
	}
	return t
}

func (p *parser) retrier(o *object, last bool) Retrier {
	r := Retrier{
		ErrorEquals:     p.errorEquals(o, last),
		Comment:         o.text("Comment"),
		IntervalSeconds: o.integer("IntervalSeconds", 1, MaxSeconds, 1),
		MaxAttempts:     o.integer("MaxAttempts", 0, MaxSeconds, 3),
		BackoffRate:     2,
		JitterStrategy:  JitterNone,
	}
	if n := o.get("BackoffRate"); n != nil {
		rate, err := strconv.ParseFloat(n.Text, 64)
		if n.Kind != jsontree.Number || err != nil || rate < 1 {
			p.add(n.Problem("\"BackoffRate\" has to be a number of at least 1.0, found %s", n.Describe()))
		} else {
			r.BackoffRate = rate
		}
	}
	r.MaxDelaySeconds = o.integer("MaxDelaySeconds", 1, maxRetryDelay-1, 0)
	if r.MaxDelaySeconds > 0 && r.MaxDelaySeconds <= r.IntervalSeconds {
		p.add(o.get("MaxDelaySeconds").Problem("\"MaxDelaySeconds\" has to be greater than \"IntervalSeconds\" (%d), found %d",
			r.IntervalSeconds, r.MaxDelaySeconds))
	}
	if n := o.typed("JitterStrategy", jsontree.String); n != nil {
		r.JitterStrategy = JitterStrategy(n.Text)
		if strategies := []string{string(JitterFull), string(JitterNone)}; !slices.Contains(strategies, n.Text) {
			p.add(n.Problem("expected the jitter strategy \"FULL\" or \"NONE\", found %s", n.Describe()).Suggest(n.Text, strategies...))
		}
	}
	o.close()
	return r
}

func (p *parser) catcher(o *object, last bool) Catcher {
	c := Catcher{
		ErrorEquals: p.errorEquals(o, last),
		Comment:     o.text("Comment"),
		ResultPath:  o.selection("ResultPath", documentPath),
		Next:        o.target("Next", true),
	}
	o.unsupported("Assign", "variables")
	o.unsupported("Output", "JSONata fields")
	o.close()
	return c
}

func (p *parser) errorEquals(o *object, last bool) []string {
	nodes := o.list("ErrorEquals", true)
	var names []string
	for _, n := range nodes {
		if n.Kind != jsontree.String || n.Text == "" {
			p.add(n.Problem("expected an error name, found %s", n.Describe()))
			continue
		}
		names = append(names, n.Text)
		reserved := strings.HasPrefix(n.Text, "States.") && !strings.HasPrefix(n.Text, "States.Http.")
		if reserved && !slices.Contains(reservedErrors, n.Text) {
			p.add(n.Problem("there is no error %q; names that start with \"States.\" are reserved", n.Text).Suggest(n.Text, reservedErrors...))
		}
		if n.Text != ErrorAll {
			continue
		}
		if len(nodes) > 1 {
			p.add(n.Problem("%q has to stand alone in \"ErrorEquals\"", ErrorAll))
		}
		if !last {
			p.add(n.Problem("%q has to stand in the last item: those after it would never match", ErrorAll))
		}
	}
	return names
}

func (p *parser) wait(o *object) *Wait {
	w := &Wait{}
	fields := []string{"Seconds", "Timestamp", "SecondsPath", "TimestampPath"}
	var found []string
	for _, name := range fields {
		if o.get(name) != nil {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		seen := "none"
		if len(found) > 0 {
			seen = strings.Join(found, ", ")
		}
		p.add(o.node.Problem("a Wait state needs exactly one of %s, found %s", strings.Join(fields, ", "), seen))
	}
	if o.has("Seconds") {
		seconds := o.integer("Seconds", 0, MaxSeconds, 0)
		w.Seconds = &seconds
	}
	if n := o.typed("Timestamp", jsontree.String); n != nil {
		if t, ok := p.timestamp(n); ok {
			w.Timestamp = &t
		}
	}
	w.SecondsPath = o.path("SecondsPath")
	w.TimestampPath = o.path("TimestampPath")
	return w
}

func (p *parser) pass(o *object) *Pass {
	s := &Pass{Parameters: o.template("Parameters"), ResultPath: o.selection("ResultPath", documentPath)}
	if n := o.get("Result"); n != nil {
		s.HasResult, s.Result = true, n.Value()
	}
	return s
}

func (p *parser) fail(o *object) *Fail {
	f := &Fail{
		Error:     o.text("Error"),
		Cause:     o.text("Cause"),
		ErrorPath: o.path("ErrorPath"),
		CausePath: o.path("CausePath"),
	}
	o.exclusive("Error", "ErrorPath")
	o.exclusive("Cause", "CausePath")
	return f
}
