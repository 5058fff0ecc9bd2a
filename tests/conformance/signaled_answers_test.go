package conformance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmespath-community/go-jmespath"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// ask works out the input of the describe call for a job that has begun.
func (j *signaledJob) ask(marks []string) error {
	input := maps.Clone(j.input)
	if key := j.entry.Job.NaturalKey; key != nil && len(marks) > 0 {
		input[key.Member] = marks[0]
	}
	j.asked = map[string]any{}
	for member, expression := range j.entry.Job.Arguments {
		value, err := jmespath.Search(expression, map[string]any{"input": input, "output": j.output})
		if err != nil {
			return fmt.Errorf("%s: %w", expression, err)
		}
		j.asked[member] = value
	}
	return nil
}

// describe answers the next poll.
func (j *signaledJob) describe(p catalog.Protocol, o *catalog.Operation, now time.Time) wire.Answer {
	a, fault := j.next(now.Sub(sim.DefaultStart()))
	switch {
	case fault != "":
		return wire.Refuse(p, o, "ThrottlingException", "Rate exceeded", http.StatusBadRequest)
	case a.Err != nil:
		code, status := responses.ErrorName(a.Err), http.StatusBadRequest
		for _, known := range o.Errors {
			if known.Shape == code && known.Code != "" {
				code = known.Code
			}
			if known.Status != 0 && (known.Shape == code || known.Code == code) {
				status = known.Status
			}
		}
		return wire.Refuse(p, o, code, "seen", status)
	default:
		output, _ := inWireForm(o.Output, a.Output).(map[string]any)
		return wire.Succeed(p, o, output)
	}
}

// describeMany answers a call for many jobs: with the elements of those that have one,
// the last asked for first.
func (s *signaledService) describeMany(p catalog.Protocol, o *catalog.Operation, found []*signaledJob) wire.Answer {
	batch := s.entry.Job.Batch
	s.batches = append(s.batches, len(found))
	elements := []any{}
	for _, j := range slices.Backward(found) {
		element, ok := j.element(s.now())
		if !ok && batch.Missing == catalog.IDRefused {
			return wire.Refuse(p, o, "InvalidJob.NotFound", "no such job", http.StatusBadRequest)
		}
		if ok {
			j.next(s.now().Sub(sim.DefaultStart()))
			elements = append(elements, element)
		}
	}
	output, _ := inWireForm(o.Output, map[string]any{batch.Elements: elements}).(map[string]any)
	return wire.Succeed(p, o, output)
}

// element is the job in the answer of a call for many; it has none if the describe call
// would fail, or answer otherwise.
func (j *signaledJob) element(now time.Time) (element map[string]any, ok bool) {
	polls := j.polls
	if j.began {
		polls--
	}
	a := j.At(polls, now.Sub(sim.DefaultStart()))
	if j.hidden || a.Err != nil || j.given < a.Faults {
		return nil, false
	}
	output := copied(a.Output)
	if j.identify(output) != nil {
		return nil, false
	}
	return elementOf(j.entry.Job.Batch, output)
}

// elementOf is the job in an answer of the describe call, where it has one.
func elementOf(b *catalog.Batch, output any) (element map[string]any, ok bool) {
	name, many := strings.CutSuffix(b.Answer, "[]")
	of, _ := output.(map[string]any)
	switch {
	case b.Answer == "":
		return of, of != nil
	case len(of) != 1: // what else the answer has is not in that for many
		return nil, false
	case many:
		list, _ := of[name].([]any)
		if len(list) != 1 {
			return nil, false
		}
		element, ok = list[0].(map[string]any)
		return element, ok
	default:
		element, ok = of[name].(map[string]any)
		return element, ok
	}
}

// identify puts the id of the job into an answer, where calls for many jobs have it.
func (j *signaledJob) identify(output any) error {
	batch := j.entry.Job.Batch
	if batch == nil {
		return nil
	}
	element, ok := elementOf(batch, output)
	if !ok {
		return nil
	}
	ids, err := batch.JobIDs(j.asked)
	if err != nil {
		return err
	}
	if object, ok := ids[0].(map[string]any); ok {
		maps.Copy(element, object)
	} else {
		element[batch.ID] = ids[0]
	}
	return nil
}

// complete gives an answer what every answer of the service has: the id of the job, if
// calls for many jobs have it, and the HTTP status.
func (j *signaledJob) complete(output any) error {
	if err := j.identify(output); err != nil {
		return err
	}
	object, _ := output.(map[string]any)
	for name := range object {
		if j.entry.Operation.Output.Member(name) == nil {
			delete(object, name)
		}
	}
	if j.entry.Operation.Output == nil || object == nil {
		return nil
	}
	for _, m := range j.entry.Operation.Output.Members {
		if m.In == catalog.InStatus {
			object[m.Name] = float64(http.StatusOK)
		}
	}
	return nil
}

// inWireForm gives a value with the model's member names the form that package wire
// writes. What is empty is left out: not every protocol can write it.
func inWireForm(shape *catalog.Shape, v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			var inner *catalog.Shape
			if shape != nil && shape.Type == catalog.Map {
				inner = shape.Element.Shape
			} else if m := shape.Member(name); m != nil {
				inner = m.Shape
			}
			object[name] = inWireForm(inner, item)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			var inner *catalog.Shape
			if shape != nil && shape.Type == catalog.List {
				inner = shape.Element.Shape
			}
			list[i] = inWireForm(inner, item)
		}
		return list
	case float64:
		if shape != nil && shape.Type == catalog.Timestamp {
			return time.UnixMilli(int64(v * 1000)).UTC().Format(time.RFC3339Nano)
		}
		return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return v
	}
}

// fit changes the answers of a sequence as the protocol and calls for many jobs want
// them, and works out the verdict anew.
func (j *signaledJob) fit(s *responses.Sequencer, q *responses.Sequence) error {
	var idle []responses.Answer
	q.Want = responses.Verdict{State: pollcore.Retry, Acceptor: pollcore.NoAcceptor}
	for _, a := range q.Answers {
		a.Output = copied(a.Output)
		dropUnsent(j.entry.Operation.Output, a.Output)
		if p := j.entry.Service.Protocols[0]; p != catalog.AWSJSON && p != catalog.RESTJSON && p != catalog.CBOR {
			a.Output = withoutEmpty(a.Output)
		}
		if err := j.complete(a.Output); err != nil {
			return err
		}
		of := a.Case
		of.Input = q.Input
		v, err := s.Verdict(of)
		if err != nil {
			return err
		}
		idle = append(idle, a)
		if q.Polls = len(idle); v.State != pollcore.Retry {
			q.Want = v
			break
		}
	}
	if q.Answers = idle; len(idle) == 1 && q.Want.State == pollcore.Retry {
		q.Answers = append(q.Answers, idle[0])
	}
	return nil
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			object[name] = copied(item)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copied(item)
		}
		return list
	default:
		return v
	}
}

// dropUnsent takes out of an answer what no service sends and the collector reads as
// absent, as the SDK does: members of enums with an empty text, and of unions without a
// member.
func dropUnsent(shape *catalog.Shape, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			inner := shape.Member(name)
			switch {
			case inner != nil && isUnsent(inner.Shape, item):
				delete(v, name)
			case inner != nil:
				dropUnsent(inner.Shape, item)
			case shape != nil && shape.Type == catalog.Map:
				dropUnsent(shape.Element.Shape, item)
			}
		}
	case []any:
		for _, item := range v {
			if shape != nil && shape.Type == catalog.List {
				dropUnsent(shape.Element.Shape, item)
			}
		}
	}
}

func isUnsent(shape *catalog.Shape, v any) bool {
	if shape.Type == catalog.Union {
		members, ok := v.(map[string]any)
		return ok && !slices.ContainsFunc(slices.Collect(maps.Values(members)), func(member any) bool { return member != nil })
	}
	return v == "" && len(shape.Enum) > 0
}

// withoutEmpty leaves out lists and objects that are empty, which XML cannot show.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			if item = withoutEmpty(item); item == nil {
				delete(v, name)
			} else {
				v[name] = item
			}
		}
		return v
	case []any:
		list := []any{}
		for _, item := range v {
			if item = withoutEmpty(item); item != nil {
				list = append(list, item)
			}
		}
		if len(list) == 0 {
			return nil
		}
		return list
	default:
		return v
	}
}
