package tests_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// echo is a service that refuses what it is asked, and quotes all of it.
type echo struct{ draw *rand.Rand }

// Do implements aws.HTTPClient.
func (e echo) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	codes := []string{"AccessDeniedException", "ValidationException", "ThrottlingException", "InternalServerError"}
	code := codes[e.draw.IntN(len(codes))]
	said := strconv.Quote(r.URL.String() + " " + string(body))
	header := http.Header{"Content-Type": {"application/json"}, "X-Amzn-Errortype": {code}}
	return &http.Response{
		StatusCode: map[bool]int{true: http.StatusInternalServerError, false: http.StatusBadRequest}[code == "InternalServerError"],
		Header:     header, Body: io.NopCloser(strings.NewReader(`{"__type": "` + code + `", "message": ` + said + `}`)), Request: r,
	}, nil
}

// RoundTrip implements http.RoundTripper.
func (e echo) RoundTrip(r *http.Request) (*http.Response, error) { return e.Do(r) }

// values draws values for the members of an input, right ones and wrong ones, and keeps them.
type values struct {
	draw *rand.Rand
	kept []string
}

func (v *values) text() string {
	text := "Zq" + strconv.FormatInt(v.draw.Int64(), 36)
	v.kept = append(v.kept, text)
	return text
}

func (v *values) number() json.Number {
	number := strconv.Itoa(100_000_000 + v.draw.IntN(1_000_000_000))
	v.kept = append(v.kept, number)
	return json.Number(number)
}

// of draws a value of a shape, or now and then one of another type.
func (v *values) of(shape *catalog.Shape, depth int) any {
	if v.draw.IntN(12) == 0 {
		return []any{v.text(), v.number(), []any{v.text()}, map[string]any{"Inner": v.text()}}[v.draw.IntN(4)]
	}
	if shape == nil { // an operation without input
		return map[string]any{}
	}
	switch shape.Type {
	case catalog.Structure, catalog.Union:
		members := map[string]any{}
		for _, m := range shape.Members {
			if (m.Required || v.draw.IntN(3) == 0) && depth < 4 {
				members[javasdk.MemberName(m.Name)] = v.of(m.Shape, depth+1)
			}
		}
		return members
	case catalog.List:
		return []any{v.of(shape.Element.Shape, depth+1)}
	case catalog.Map:
		return map[string]any{"Name": v.of(shape.Element.Shape, depth+1)}
	case catalog.Blob:
		encoded := base64.StdEncoding.EncodeToString([]byte(v.text()))
		v.kept = append(v.kept, encoded)
		return encoded
	case catalog.Boolean:
		return true
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return v.number()
	default:
		return v.text()
	}
}

// starting is a driver, and how its arguments are drawn.
type starting struct {
	jobs.Driver

	arguments func(*values) any
}

// listStarting returns the drivers of all jobs.
func listStarting(t *testing.T, service echo) []starting {
	t.Helper()
	cfg := aws.Config{
		Region: "us-east-1", HTTPClient: service, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		RetryMaxAttempts: 1,
	}
	var all []starting
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, s := range services {
		for _, e := range s.Entries {
			named, err := catalog.AWS().Extract(s.Key + ":" + e.Name)
			require.NoError(t, err)
			if !named.Starts {
				continue
			}
			driver, err := awsjob.NewDriver(cfg, catalog.AWS(), s.Key+":"+e.Name)
			require.NoError(t, err)
			all = append(all, starting{driver, func(v *values) any { return v.of(named.Service.Operations[named.Name].Input, 0) }})
		}
	}
	invoke, err := builtin.LambdaInvoke(jobs.Environment{AWS: cfg, Bucket: "records", Prefix: "jobpoller"})
	require.NoError(t, err)
	all = append(all, starting{invoke, func(v *values) any {
		return map[string]any{"FunctionName": v.text(), "Payload": map[string]any{"Password": v.text()}, "Other": v.number()}
	}})
	request, err := httpjob.New(httpjob.Config{Hosts: []string{"jobs.example.com"}, Wrap: func(http.RoundTripper) http.RoundTripper { return service }})
	require.NoError(t, err)
	return append(all, starting{request, func(v *values) any {
		start := map[string]any{
			"Method": "POST", "Url": "https://" + []string{"jobs.example.com/" + v.text(), v.text(), "u:" + v.text() + "@jobs.example.com/"}[v.draw.IntN(3)],
			"Headers": map[string]any{"X-Key": v.text()}, "Body": v.text(),
		}
		if v.draw.IntN(3) == 0 {
			start["Method"] = v.text()
		}
		return map[string]any{"Start": start, "Describe": map[string]any{"Url": "https://jobs.example.com/{Body.id}" + v.text()}}
	}})
}

// No value of the arguments gets into the log, whatever a driver finds wrong with them and
// whatever a service says of them.
func TestLogHoldsNoValueOfArguments(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(7, 1))
	errors := map[string]int{}
	for _, driver := range listStarting(t, echo{draw}) {
		registry, err := jobs.NewRegistry(driver.Driver)
		require.NoError(t, err)
		var log bytes.Buffer
		p, err := handler.New(handler.Config{Store: memstore.New(nil), Jobs: registry, Log: slog.New(slog.NewJSONHandler(&log, nil))})
		require.NoError(t, err)
		for n := range 8 {
			log.Reset()
			v := &values{draw: draw}
			text, err := json.Marshal(driver.arguments(v))
			require.NoError(t, err)
			event := fmt.Sprintf(`{"Context": {"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:Report:run-%d", "StartTime": "2026-11-28T09:00:00Z"}},
				"Input": {"job": %q, "maxWaitSeconds": 600, "arguments": %s}}`, n, driver.Name(), text)
			_, err = p.RunJob(t.Context(), json.RawMessage(event))
			require.Error(t, err)
			for _, value := range v.kept {
				require.NotContains(t, log.String(), value, "%s: %s", driver.Name(), text)
			}
			var line struct {
				Error  string `json:"error"`
				Reason string `json:"reason"`
			}
			require.NoError(t, json.Unmarshal(log.Bytes(), &line), log.String())
			errors[line.Error]++
			require.NotEqual(t, "for details see the Cause of the execution's failure", line.Reason, "%s: %v", driver.Name(), err)
		}
	}
	for _, name := range []string{handler.ErrorInvalidRequest, handler.ErrorFailed, handler.ErrorServiceUnavailable} {
		require.Greater(t, errors[name], 10, "%v", errors)
	}
}
