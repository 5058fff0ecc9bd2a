package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// apiSuites are what AWS answered to calls of Step Functions' API, as data; the
// corpus says where they come from.
var apiSuites = []suite{
	{name: "api-recordings", folder: "api-recordings", cases: 128, run: runAPI, differences: apiDifferences},
}

// apiDifferences are the cases that differ, with the reason.
var apiDifferences = map[string]string{
	"logs--deleted_log_group": "the server does not know which log groups exist",
}

var endpoint = flag.String("endpoint", "", "the URL of another Step Functions endpoint that TestEndpoint judges by the API recordings")

// apiCase is a recorded conversation with Step Functions' API; the README of
// the corpus describes its members.
type apiCase struct {
	Name       string              `json:"name"`
	Kind       string              `json:"kind"`
	MockConfig json.RawMessage     `json:"mockConfig"`
	Steps      []apiStep           `json:"steps"`
	Sorted     []string            `json:"sorted"`
	Free       []string            `json:"free"`
	OneOf      map[string][]string `json:"oneOf"`
	Masks      []string            `json:"masks"`
	Differs    []string            `json:"differs"`
}

// apiStep is a call with the recorded answer, or a wait.
type apiStep struct {
	Operation  string     `json:"operation"`
	Parameters any        `json:"parameters"`
	Expect     *apiAnswer `json:"expect"`
	Wait       *struct {
		Operation  string `json:"operation"`
		Parameters any    `json:"parameters"`
		Until      struct {
			Path   string   `json:"path"`
			In     []string `json:"in"`
			Absent bool     `json:"absent"`
		} `json:"until"`
	} `json:"wait"`
}

// apiAnswer is a recorded answer or refusal.
type apiAnswer struct {
	Status int            `json:"status"`
	Body   map[string]any `json:"body"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// recordedAccount is the account of all recordings. Each case runs in an
// account of its own, which is written in its place in both directions.
const recordedAccount = "111111111111"

// apiTalk is a conversation with an endpoint.
type apiTalk struct {
	url     string
	account string
	patient time.Duration // how long a wait lasts at most
	answers []any         // by step
}

// apiResponse is what the endpoint answered.
type apiResponse struct {
	status  int
	code    string // of a refusal
	message string
	body    map[string]any
}

func readAPICases(t *testing.T, folder string) []*apiCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := make([]*apiCase, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &out[i]), file)
	}
	return out
}

// runAPI holds each conversation with the server, in an account of its own. A case
// with mocks has a server of its own.
func runAPI(t *testing.T, folder string) result {
	t.Helper()
	cases := readAPICases(t, folder)
	out := result{total: len(cases), failures: map[string]string{}}
	shared := serveAPI(nil)
	defer shared.close()
	passed, of := map[string]int{}, map[string]int{}
	for i, c := range cases {
		area, _, _ := strings.Cut(c.Name, "--")
		of[area]++
		at := shared
		if c.MockConfig != nil {
			config, err := mock.Read(c.MockConfig)
			if err != nil {
				out.failures[c.Name] = err.Error()
				continue
			}
			at = serveAPI(config)
			defer at.close()
		}
		talk := &apiTalk{url: at.url, account: fmt.Sprintf("%012d", 200000000000+i), patient: 5 * time.Second}
		if what := c.run(t.Context(), talk); what != "" {
			out.failures[c.Name] = what
			continue
		}
		passed[area]++
	}
	for _, area := range slices.Sorted(maps.Keys(of)) {
		out.notes = append(out.notes, fmt.Sprintf("%s: %d of %d", area, passed[area], of[area]))
	}
	return out
}

// apiServer is a server for recordings.
type apiServer struct {
	url   string
	close func()
}

// serveAPI starts a server with mocks; nil: nobody answers its Tasks.
func serveAPI(config *mock.Config) apiServer {
	s := server.New(server.Options{Prepare: func(start server.StartInfo, o *sim.Options) error {
		o.Handler = func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Never: true}, nil }
		if config == nil {
			return nil
		}
		return config.Apply(start.Machine, start.StateMachineName+"#"+start.TestCase, o)
	}})
	over := httptest.NewServer(s)
	return apiServer{over.URL, func() {
		over.Close()
		s.Close()
	}}
}

// run holds the conversation and tells how it differs from the recording, or
// the empty string.
func (c *apiCase) run(ctx context.Context, talk *apiTalk) string {
	m := newAPIMatcher(c)
	for i, s := range c.Steps {
		var what string
		if s.Wait != nil {
			what = talk.wait(ctx, s)
		} else {
			what = talk.step(ctx, m, s)
		}
		if what != "" {
			name := s.Operation
			if s.Wait != nil {
				name = "wait by " + s.Wait.Operation
			}
			return fmt.Sprintf("step %d, %s: %s", i, name, what)
		}
	}
	return ""
}

// step makes a call and compares its answer.
func (talk *apiTalk) step(ctx context.Context, m *apiMatcher, s apiStep) string {
	parameters, err := talk.resolve(s.Parameters)
	if err != nil {
		return err.Error()
	}
	r, err := talk.call(ctx, s.Operation, parameters)
	if err != nil {
		return err.Error()
	}
	talk.answers = append(talk.answers, r.body)
	want := s.Expect
	switch {
	case want == nil || want.Error == nil:
		if r.status != http.StatusOK {
			return fmt.Sprintf("refused: %s: %s", r.code, r.message)
		}
		if want == nil {
			return ""
		}
		return m.compare(s.Operation, r.body, want.Body)
	case r.status != http.StatusBadRequest:
		return fmt.Sprintf("HTTP %d, want 400 %s: %s", r.status, want.Error.Code, want.Error.Message)
	case r.code != want.Error.Code:
		return fmt.Sprintf("refused: %s: %s, want %s: %s", r.code, r.message, want.Error.Code, want.Error.Message)
	default:
		if what := m.matchText("/message", r.message, want.Error.Message); what != "" {
			return what
		}
		for name, member := range want.Body {
			if what := m.match("/"+name, r.body[name], member); what != "" {
				return what
			}
		}
		return ""
	}
}

// wait repeats a call until its answer is as described. A refusal counts as "not yet".
func (talk *apiTalk) wait(ctx context.Context, s apiStep) string {
	w := s.Wait
	parameters, err := talk.resolve(w.Parameters)
	if err != nil {
		return err.Error()
	}
	in := make([]string, len(w.Until.In))
	for i, text := range w.Until.In {
		resolved, err := talk.resolve(text)
		if err != nil {
			return err.Error()
		}
		in[i], _ = resolved.(string)
	}
	ctx, cancel := context.WithTimeout(ctx, talk.patient)
	defer cancel()
	next := time.NewTicker(2 * time.Millisecond)
	defer next.Stop()
	for {
		var seen string
		r, err := talk.call(ctx, w.Operation, parameters)
		switch {
		case err != nil:
			seen = err.Error()
		case r.status != http.StatusOK:
			seen = r.code + ": " + r.message
		default:
			values := valuesAt(r.body, strings.Split(w.Until.Path, "/")[1:])
			found := slices.ContainsFunc(values, func(v any) bool {
				text, isText := v.(string)
				return isText && slices.Contains(in, text)
			})
			if found != w.Until.Absent {
				talk.answers = append(talk.answers, r.body)
				return ""
			}
			seen = string(text(r.body))
		}
		select {
		case <-ctx.Done():
			return fmt.Sprintf("%s is never one of %q; last answer: %.600s", w.Until.Path, in, seen)
		case <-next.C:
		}
	}
}

// valuesAt returns what is at a pointer in which * stands for each item.
func valuesAt(root any, steps []string) []any {
	if len(steps) == 0 {
		return []any{root}
	}
	var next []any
	switch at := root.(type) {
	case map[string]any:
		if steps[0] == "*" {
			next = slices.Collect(maps.Values(at))
		} else if member, ok := at[steps[0]]; ok {
			next = []any{member}
		}
	case []any:
		if steps[0] == "*" {
			next = at
		} else if n, err := strconv.Atoi(steps[0]); err == nil && n < len(at) {
			next = at[n : n+1]
		}
	default:
	}
	var out []any
	for _, value := range next {
		out = append(out, valuesAt(value, steps[1:])...)
	}
	return out
}

var stepReference = regexp.MustCompile(`\$\{step:(\d+)\.([^}]*)\}`)

// resolve replaces the references to earlier answers.
func (talk *apiTalk) resolve(value any) (any, error) {
	var failure error
	switch value := value.(type) {
	case string:
		return stepReference.ReplaceAllStringFunc(value, func(reference string) string {
			parts := stepReference.FindStringSubmatch(reference)
			n, err := strconv.Atoi(parts[1])
			if err == nil && n < len(talk.answers) {
				if found := valuesAt(talk.answers[n], strings.Split(parts[2], ".")); len(found) == 1 {
					if text, ok := found[0].(string); ok {
						return text
					}
				}
			}
			failure = fmt.Errorf("no earlier answer has %s", reference)
			return ""
		}), failure
	case []any:
		out := make([]any, len(value))
		for i := range value {
			if out[i], failure = talk.resolve(value[i]); failure != nil {
				return nil, failure
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(value))
		for name := range value {
			if out[name], failure = talk.resolve(value[name]); failure != nil {
				return nil, failure
			}
		}
		return out, nil
	default:
		return value, nil
	}
}

// call calls an operation in the conversation's account.
func (talk *apiTalk) call(ctx context.Context, operation string, parameters any) (*apiResponse, error) {
	var sent bytes.Buffer
	encoder := json.NewEncoder(&sent)
	encoder.SetEscapeHTML(false)
	if parameters == nil {
		parameters = map[string]any{}
	}
	if err := encoder.Encode(parameters); err != nil {
		return nil, err
	}
	body := strings.ReplaceAll(sent.String(), recordedAccount, talk.account)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, talk.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	request.Header.Set("X-Amz-Date", "20261122T120000Z")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+talk.account+
		"/20261122/us-east-1/states/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature="+strings.Repeat("0", 64))
	request.Header.Set("X-Moto-Account-Id", talk.account) // moto does not look at the access key
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	var received bytes.Buffer
	if _, err := received.ReadFrom(response.Body); err != nil {
		return nil, err
	}
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	out := &apiResponse{status: response.StatusCode, body: map[string]any{}}
	answer := strings.ReplaceAll(received.String(), talk.account, recordedAccount)
	if err := json.Unmarshal([]byte(answer), &out.body); err != nil && strings.TrimSpace(answer) != "" {
		return nil, fmt.Errorf("HTTP %d, not a JSON object: %.300s", response.StatusCode, answer)
	}
	if out.status != http.StatusOK {
		out.code, _ = out.body["__type"].(string)
		if header := response.Header.Get("X-Amzn-Errortype"); out.code == "" {
			out.code, _, _ = strings.Cut(header, ":")
		}
		out.code = out.code[strings.LastIndexByte(out.code, '#')+1:]
		out.message, _ = out.body["message"].(string)
	}
	return out, nil
}

// TestEndpoint judges another endpoint by the recordings: it prints each case
// that differs and how many do not. Mocks cannot be told to it.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	if *endpoint == "" || *corpus == "" {
		return // nothing to judge
	}
	passed, total := 0, 0
	first := time.Now().Unix() * 1000 // no account is used twice
	for i, c := range readAPICases(t, *corpus+"/api-recordings") {
		if c.Kind != "api" {
			continue
		}
		total++
		talk := &apiTalk{url: *endpoint, account: fmt.Sprintf("%012d", (first+int64(i))%1e12), patient: 10 * time.Second}
		if what := c.run(t.Context(), talk); what != "" {
			say("  differs: %s: %s", c.Name, what)
			continue
		}
		passed++
	}
	say("endpoint %s: passed %d of %d", *endpoint, passed, total)
}
