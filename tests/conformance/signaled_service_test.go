package conformance_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/responses"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// signaledService is the service of jobs of one type, behind the HTTP client of their
// driver. It speaks the protocol of the request.
type signaledService struct {
	entry *catalog.Entry
	// begun is called when a job has begun, before the caller knows of it.
	begun func(*signaledJob)

	mu      sync.Mutex
	now     func() time.Time
	begins  *signaledJob // that a start call begins
	jobs    map[string]*signaledJob
	batches []int // sizes of the calls for many jobs
}

// signaledJob is a job that gives the answers of a sequence.
type signaledJob struct {
	*player
	*starter

	starts, stops int
	stoppedAt     time.Time
	hidden        bool           // calls for many jobs do not find it
	asked         map[string]any // the input of its describe call
}

// markOf is what the texts of a job have, by which requests are told apart: a mark of
// the test, or the token that is its name.
var markOf = regexp.MustCompile(`-w\d{3}\b|[0-9a-f]{36}`)

// newSignaledJob makes the number-th job of a test. What jobs must share to be described
// by one call has no mark.
func newSignaledJob(e *catalog.Entry, number int, p *player) (*signaledJob, error) {
	s, err := newStarter(e)
	if err != nil {
		return nil, err
	}
	var shared []string
	if e.Job.Batch != nil {
		for _, member := range e.Job.Batch.Shared {
			shared = append(shared, e.Job.Arguments[member])
		}
	}
	mark := fmt.Sprintf("-w%03d", number)
	s.input, _ = marked(s.input, shared, mark).(map[string]any)
	s.output, _ = marked(s.output, shared, mark).(map[string]any)
	return &signaledJob{player: p, starter: s}, nil
}

// marked has a mark in the texts of a value, but for some.
func marked(v any, but []string, mark string) any {
	switch v := v.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			object[name] = marked(item, but, mark)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = marked(item, but, mark)
		}
		return list
	case string:
		plain := strings.NewReplacer(".", "-", "[", "", "]", "").Replace(v)
		if slices.Contains(but, v) {
			return plain
		}
		return plain + mark
	default:
		return v
	}
}

// arguments are those of the start call, in the spelling of Step Functions: all that is
// required, and what the other calls are made of.
func (j *signaledJob) arguments(r *rand.Rand) any {
	job, start := j.entry.Job, j.entry.Service.Operations[j.entry.Name]
	generator := wire.Generator{Rand: r, Protocol: start.Service.Protocols[0]}
	input := map[string]any{}
	for name, value := range generator.Structure(start.Input) {
		if start.Input.Member(name).Required {
			input[name] = value
		}
	}
	maps.Copy(input, j.input)
	delete(input, job.Token)
	if job.NaturalKey != nil {
		delete(input, job.NaturalKey.Member) // the driver names the job
	}
	for _, member := range job.JSONText {
		input[member] = map[string]any{"rows": 1}
	}
	for member := range job.Forms {
		input[member] = "arn:aws:states:us-east-1:123456789012:stateMachine:Nightly"
	}
	return responses.Integration(start.Input, input)
}

// Do implements the SDK's HTTPClient.
func (s *signaledService) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	operation, protocol, err := s.operation(r, body)
	if err != nil {
		return nil, err
	}
	text := string(body)
	if protocol == catalog.AWSQuery || protocol == catalog.EC2Query {
		if text, err = url.QueryUnescape(text); err != nil {
			return nil, err
		}
	}
	a, err := s.answer(protocol, operation, r.URL.Path+"?"+r.URL.RawQuery+"\n"+text)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body)), ContentLength: int64(len(a.Body)), Request: r,
	}, nil
}

// config is the configuration of drivers that call the service.
func (s *signaledService) config() aws.Config {
	return aws.Config{
		Region: "us-east-1", HTTPClient: s, BaseEndpoint: aws.String("https://service.test"),
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}
}

// operation finds what a request calls, and in which protocol.
func (s *signaledService) operation(r *http.Request, body []byte) (*catalog.Operation, catalog.Protocol, error) {
	service := s.entry.Service
	named := func(name string, p catalog.Protocol) (*catalog.Operation, catalog.Protocol, error) {
		if o := service.Operations[name]; o != nil {
			return o, p, nil
		}
		return nil, "", fmt.Errorf("%s has no operation %q", service.Key, name)
	}
	last := func(text, separator string) string { return text[strings.LastIndex(text, separator)+1:] }
	switch {
	case r.Header.Get("Smithy-Protocol") != "":
		return named(last(r.URL.Path, "/"), catalog.CBOR)
	case r.Header.Get("X-Amz-Target") != "":
		return named(last(r.Header.Get("X-Amz-Target"), "."), catalog.AWSJSON)
	}
	protocol := service.Protocols[0]
	if protocol == catalog.AWSQuery || protocol == catalog.EC2Query {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, "", err
		}
		return named(form.Get("Action"), protocol)
	}
	for _, name := range s.called() {
		o := service.Operations[name]
		path, _, _ := strings.Cut(o.Path, "?")
		pattern := regexp.MustCompile(`\\\{\w+(\\\+)?\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		if r.Method == o.Method && regexp.MustCompile("^"+pattern+"/?$").MatchString(r.URL.EscapedPath()) {
			return o, protocol, nil
		}
	}
	return nil, "", fmt.Errorf("%s %s is no operation of a job of %s", r.Method, r.URL, service.Key)
}

// called are the operations that the driver of a job calls.
func (s *signaledService) called() []string {
	job := s.entry.Job
	names := []string{s.entry.Name, job.Describe}
	if job.Stop != nil {
		names = append(names, job.Stop.Operation)
	}
	if job.Batch != nil {
		names = append(names, job.Batch.Operation)
	}
	if job.Precondition != nil {
		names = append(names, job.Precondition.Operation)
	}
	return names
}

// answer answers a request with the text.
func (s *signaledService) answer(p catalog.Protocol, o *catalog.Operation, text string) (wire.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, marks := s.entry.Job, markOf.FindAllString(text, -1)
	switch {
	case o.Name == s.entry.Name && job.Describe == s.entry.Name && s.begins.starts > 0: // there is one in the account
		return s.begins.describe(p, o, s.now()), nil
	case o.Name == s.entry.Name:
		return s.start(p, o, marks)
	case job.Precondition != nil && o.Name == job.Precondition.Operation:
		return wire.Succeed(p, o, map[string]any{}), nil
	}
	var found []*signaledJob
	for _, mark := range marks {
		if j := s.jobs[mark]; j != nil && !slices.Contains(found, j) {
			found = append(found, j)
		}
	}
	if found == nil && len(job.Arguments) == 0 && o.Name == job.Describe { // the one of the Region
		found = []*signaledJob{s.begins}
	}
	switch {
	case len(found) == 0:
		return wire.Answer{}, fmt.Errorf("%s asks for no known job: %s", o.Name, text)
	case job.Stop != nil && o.Name == job.Stop.Operation:
		found[0].stops++
		found[0].stoppedAt = s.now()
		return wire.Succeed(p, o, map[string]any{}), nil
	case job.Batch != nil && o.Name == job.Batch.Operation && (o.Name != job.Describe || len(found) > 1):
		return s.describeMany(p, o, found), nil
	case len(found) > 1:
		return wire.Answer{}, fmt.Errorf("%s asks for %d jobs: %s", o.Name, len(found), text)
	default:
		return found[0].describe(p, o, s.now()), nil
	}
}

// start begins the job that is to begin.
func (s *signaledService) start(p catalog.Protocol, o *catalog.Operation, marks []string) (wire.Answer, error) {
	j := s.begins
	if j.output["executionArn"] != nil && len(marks) > 0 { // the one ARN that is made of the name
		j.output["executionArn"] = "arn:aws:states:us-east-1:123456789012:execution:Nightly:" + marks[0]
	}
	for _, mark := range marks {
		s.jobs[mark] = j
	}
	for _, mark := range markOf.FindAllString(fmt.Sprint(j.output), -1) {
		s.jobs[mark] = j
	}
	if j.starts++; j.starts == 1 {
		if err := j.ask(marks); err != nil {
			return wire.Answer{}, err
		}
		if s.begun != nil {
			s.mu.Unlock()
			s.begun(j)
			s.mu.Lock()
		}
	}
	return wire.Succeed(p, o, j.output), nil
}
