package awsjob_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// speaksJSON reports whether the service is called in JSON.
func speaksJSON(s *catalog.Service) bool {
	return slices.Contains(s.Protocols, catalog.AWSJSON) || slices.Contains(s.Protocols, catalog.RESTJSON)
}

// Every waiter and job of the catalogue has a driver.
func TestDriversOfTheCatalogue(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	made := 0
	for _, s := range list {
		for _, e := range s.Entries {
			name := s.Key + ":" + e.Name
			cfg := config("")
			cfg.BaseEndpoint = nil
			d, err := awsjob.NewDriver(cfg, catalog.AWS(), name)
			require.NoError(t, err, name)
			made++
			require.Equal(t, name, d.Name())
			require.NoError(t, d.Waiter().Validate(), name)
			_, err = pollcore.Compile[jobs.Ref, any](d.Waiter())
			require.NoError(t, err, name)
			require.NotEmpty(t, d.Permissions(), name)
			_, err = d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"NoSuchMember": 1}`)})
			require.ErrorIs(t, err, jobs.ErrArguments, name)
			for _, ref := range []jobs.Ref{nil, {}, {"NoSuchMember": "1"}} {
				_, err = d.Describe(t.Context(), ref)
				require.ErrorContains(t, err, "job reference", name)
			}
		}
	}
	require.GreaterOrEqual(t, made, 528)
}

// No two members of a structure have one name in PascalCase.
func TestPascalCaseIsUnambiguous(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		s, err := catalog.AWS().Service(l.Key)
		require.NoError(t, err)
		for _, shape := range s.Shapes {
			names := map[string]bool{}
			for _, m := range shape.Members {
				require.False(t, names[pascalName(m)], "%s: %s of %s", s.Key, m.Name, shape.Name)
				names[pascalName(m)] = true
			}
		}
	}
}

// sampler makes values of shapes, with all their members.
type sampler struct {
	spell func(catalog.Member) string
	// wire is set for values as a service sends them.
	wire bool
	// pick counts through the values of enums.
	pick int
}

// value returns a value; of a shape within itself there is one level.
func (s *sampler) value(m catalog.Member, above []*catalog.Shape) any {
	shape := m.Shape
	if shape == nil { // of an operation without input
		return map[string]any{}
	}
	if slices.Contains(above, shape) && len(shape.Members) > 0 {
		return nil
	}
	above = append(slices.Clone(above), shape)
	switch shape.Type {
	case catalog.Structure, catalog.Union:
		object := map[string]any{}
		for _, member := range shape.Members {
			if v := s.value(member, above); v != nil && (member.In == "" || !s.wire) && (!member.Token || s.wire) {
				object[s.spell(member)] = v
				if shape.Type == catalog.Union {
					break
				}
			}
		}
		if shape.Type == catalog.Union && len(object) == 0 {
			return nil
		}
		return object
	case catalog.List:
		if v := s.value(*shape.Element, above); v != nil {
			return []any{v}
		}
		return []any{}
	case catalog.Map:
		if v := s.value(*shape.Element, above); v != nil {
			return map[string]any{"key": v}
		}
		return map[string]any{}
	case catalog.String:
		if len(shape.Enum) > 0 {
			return shape.Enum[s.pick%len(shape.Enum)]
		}
		return "text-" + shape.Name
	case catalog.Boolean:
		return true
	case catalog.Blob:
		return "AAE="
	case catalog.Timestamp:
		return s.timestamp(m)
	case catalog.Document:
		return map[string]any{"any": 1}
	default:
		return 7
	}
}

func (s *sampler) timestamp(m catalog.Member) any {
	switch {
	case s.wire && (m.Format == "" || m.Format == "unixTimestamp"):
		return 1795262400.5
	case s.wire && m.Format == "rfc822":
		return "Sat, 21 Nov 2026 12:00:00 GMT"
	default:
		return "2026-11-21T12:00:00.5Z"
	}
}

// sampleAnswer is an answer with all that it can have in its body.
func sampleAnswer(t *testing.T, op *catalog.Operation, pick int) answer {
	t.Helper()
	if !speaksJSON(op.Service) {
		return inFullProtocol(t, op, pick)
	}
	if op.Output == nil {
		return answer{body: `{}`}
	}
	rest := op.Service.Protocols[0] == catalog.RESTJSON
	s := sampler{wire: true, pick: pick, spell: func(m catalog.Member) string {
		if rest {
			return m.WireName()
		}
		return m.Name
	}}
	value := s.value(catalog.Member{Shape: op.Output}, nil)
	header := map[string]string{}
	for _, m := range op.Output.Members {
		switch {
		case m.In == catalog.InPayload:
			value = s.value(m, []*catalog.Shape{op.Output})
		case m.In == catalog.InHeader && m.Shape.Type == catalog.String:
			header[m.WireName()] = "text"
		}
	}
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return answer{body: string(text), header: header}
}

// inFullProtocol is a sampleAnswer of a service that does not speak JSON.
func inFullProtocol(t *testing.T, op *catalog.Operation, pick int) answer {
	t.Helper()
	object := map[string]any{}
	if op.Output != nil {
		text, err := json.Marshal((&sampler{spell: modelName, pick: pick}).value(catalog.Member{Shape: op.Output}, nil))
		require.NoError(t, err)
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber() // as package wire has numbers
		require.NoError(t, decoder.Decode(&object))
	}
	return fromWire(wire.Succeed(op.Service.Protocols[0], op, object))
}

func fromWire(a wire.Answer) answer {
	header := map[string]string{}
	for name := range a.Header {
		header[name] = a.Header.Get(name)
	}
	return answer{status: a.Status, header: header, body: string(a.Body)}
}

// refusal is the answer of a service that refuses a call with an error.
func refusal(op *catalog.Operation, code string) answer {
	if speaksJSON(op.Service) {
		return answer{status: http.StatusBadRequest, body: `{"__type": "` + code + `"}`}
	}
	return fromWire(wire.Refuse(op.Service.Protocols[0], op, code, "no", http.StatusBadRequest))
}

// pascalName is what Step Functions calls a member.
func pascalName(m catalog.Member) string { return javasdk.MemberName(m.Name) }

// Every job of the catalogue can be started, described and stopped with what its
// start call was given and has answered, here all that the model has.
func TestEveryJob(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, s := range list {
		for _, e := range s.Entries {
			entry, err := catalog.AWS().Lookup(s.Key, e.Name)
			require.NoError(t, err)
			if e.Kind != catalog.AWSJob || entry.Operation.Discovered {
				continue
			}
			t.Run(s.Key+":"+e.Name, func(t *testing.T) {
				t.Parallel()
				testJob(t, entry)
			})
		}
	}
}

// startArguments are arguments of which the job takes all.
func startArguments(job *catalog.Job, sample any) any {
	members, _ := sample.(map[string]any)
	if job.NaturalKey != nil {
		delete(members, javasdk.MemberName(job.NaturalKey.Member))
	}
	for _, member := range job.JSONText {
		members[javasdk.MemberName(member)] = map[string]any{"rows": 1}
	}
	for member := range job.Forms {
		members[javasdk.MemberName(member)] = "arn:aws:states:us-east-1:123456789012:stateMachine:Nightly"
	}
	return sample
}

func testJob(t *testing.T, entry *catalog.Entry) {
	t.Helper()
	start := entry.Service.Operations[entry.Name]
	arguments, err := json.Marshal(startArguments(entry.Job, (&sampler{spell: pascalName}).value(catalog.Member{Shape: start.Input}, nil)))
	require.NoError(t, err)
	var answers []answer
	if before := entry.Job.Precondition; before != nil {
		answers = append(answers, sampleAnswer(t, entry.Service.Operations[before.Operation], 0))
	}
	if key := entry.Job.NaturalKey; key != nil { // a sample's name would be another
		answers = append(answers, refusal(start, key.Exists[0]))
	} else {
		answers = append(answers, sampleAnswer(t, start, 0))
	}
	answers = append(answers, sampleAnswer(t, entry.Operation, 0))
	switch stop := entry.Job.Stop; {
	case stop != nil && stop.Refused != nil:
		answers = append(answers, answer{body: `{}`})
	case stop != nil:
		answers = append(answers, sampleAnswer(t, entry.Service.Operations[stop.Operation], 0))
	}
	server := newScripted(t, answers...)
	d, err := awsjob.NewDriver(config(server.URL), catalog.AWS(), entry.Service.Key+":"+entry.Name)
	require.NoError(t, err)
	request := jobs.Request{Arguments: arguments, Token: strings.Repeat("a", 36)}
	ref, err := d.Start(t.Context(), request)
	require.NoError(t, err)
	require.NotEmpty(t, ref)
	sent := server.take()
	last := sent[len(sent)-1]
	text := last.Path + last.Query + last.Body
	for _, values := range last.Header {
		text += strings.Join(values, "")
	}
	require.Equal(t, entry.Job.Protection() != catalog.Unprotected, strings.Contains(text, request.Token), "the token")
	require.Equal(t, jobs.Idempotency{Class: jobs.Class(entry.Job.Protection()), Window: entry.Job.Window()}, d.Idempotency(request))

	out, err := d.Describe(t.Context(), ref)
	require.NoError(t, err)
	require.NotEmpty(t, out)
	stopper, stops := d.(jobs.Stopper)
	require.Equal(t, entry.Job.Stop != nil, stops)
	if stops {
		require.NoError(t, stopper.Stop(t.Context(), ref))
	}
}

// The waiter of a driver gives the verdict on the driver's output that the
// catalogue's gives on the same in the model's spelling, for every waiter and
// job and samples of all values of enums.
func TestVerdictsKeepTheirSpelling(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	verdicts := map[pollcore.Verdict]int{}
	for _, l := range list {
		for _, e := range l.Entries {
			entry, err := catalog.AWS().Lookup(l.Key, e.Name)
			require.NoError(t, err)
			if entry.Operation.Discovered {
				continue
			}
			for _, verdict := range sameVerdicts(t, entry, l.Key+":"+entry.Waiter.Name) {
				verdicts[verdict]++
			}
		}
	}
	for _, v := range []pollcore.Verdict{pollcore.Success, pollcore.Failure, pollcore.Retry} {
		require.Greater(t, verdicts[v], 100, "%s", v)
	}
}

// sameVerdicts requires the verdicts on samples to be the same in both
// spellings, and returns them.
func sameVerdicts(t *testing.T, entry *catalog.Entry, name string) []pollcore.Verdict {
	t.Helper()
	service := &canned{status: http.StatusOK, header: http.Header{}}
	cfg := config("https://example.com")
	cfg.HTTPClient = service
	client := awsjob.New(cfg)
	d, err := awsjob.NewDriver(cfg, catalog.AWS(), name)
	require.NoError(t, err)
	ofModel, err := pollcore.Compile[any, any](entry.Waiter)
	require.NoError(t, err, name)
	ofDriver, err := pollcore.Compile[jobs.Ref, any](d.Waiter())
	require.NoError(t, err, name)
	whole := catalog.Member{Shape: entry.Operation.Input}
	input := (&sampler{spell: func(m catalog.Member) string { return m.Name }}).value(whole, nil)
	arguments, err := json.Marshal((&sampler{spell: pascalName}).value(whole, nil))
	require.NoError(t, err)
	ref, err := d.Start(t.Context(), jobs.Request{Arguments: arguments})
	require.NoError(t, err, name)

	var verdicts []pollcore.Verdict
	for pick := range 12 {
		service.body = []byte(sampleAnswer(t, entry.Operation, pick).body)
		out, err := client.Call(t.Context(), entry.Operation, input)
		require.NoError(t, err, name)
		want := ofModel.Check(nil, out, nil)
		described, err := d.Describe(t.Context(), ref)
		require.NoError(t, err, name)
		got := ofDriver.Check(ref, described, nil)
		require.Equal(t, want.Verdict, got.Verdict, name)
		require.Equal(t, want.Acceptor, got.Acceptor, name)
		require.Equal(t, want.Message, got.Message, name)
		verdicts = append(verdicts, got.Verdict)
	}
	return verdicts
}
