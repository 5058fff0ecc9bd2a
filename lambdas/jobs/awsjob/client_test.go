package awsjob_test

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// fixture is an operation of testdata.
func fixture(t testing.TB, service, operation string) *catalog.Operation {
	t.Helper()
	op := fixtures(t).mustService(t, service).Operations[operation]
	require.NotNil(t, op)
	return op
}

func describeBakes(t testing.TB) *catalog.Operation { return fixture(t, "ovens", "DescribeBakes") }

var oneBake = map[string]any{"bakeIds": []string{"b-1"}}

// What the model knows comes out in one form, and what it does not know not at
// all.
func TestOutput(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`: `{}`,
		``:   `{}`,
		`{"bakes": [{"id": "b-1", "crumbs": 9007199254740993, "weight": 0.1, "startedAt": 1795000000.25, "labels": {"a": "b", "n": null}}]}`: `{"bakes": [{"id": "b-1", "crumbs": 9007199254740993, "weight": 0.1, "startedAt": "2026-11-18T11:06:40.25Z", "labels": {"a": "b"}}]}`,
		`{"bakes": [{"id": null, "new": {"x": [1, {}]}, "parts": [{"parts": []}, null], "state": ""}, null], "next": 7}`:                     `{"bakes": [{"parts": [{"parts": []}]}]}`,
		`{"bakes": [{"state": "FROM_A_LATER_VERSION", "weight": 1e400000000000000000000}]}`:                                                  "",
		`{"bakes": [{"weight": "NaN"}, {"weight": "-Infinity"}, {"weight": 1e300}]}`:                                                         `{"bakes": [{"weight": "NaN"}, {"weight": "-Infinity"}, {"weight": 1e+300}]}`,
		`{"\u0062akes": [{"id": "\ud83c\udf5e"}]}`:                                                                                           `{"bakes": [{"id": "🍞"}]}`,
		`{"bakes": []}`: `{"bakes": []}`,
		// What the model does not allow.
		`{"bakes": {}}`:                      "",
		`{"bakes": [{"id": 7}]}`:             "",
		`{"bakes": [{"crumbs": 1.5}]}`:       "",
		`{"bakes": [{"startedAt": "noon"}]}`: "",
		`{"bakes": [7]}`:                     "",
		`[]`:                                 "",
		`{"bakes": [`:                        "",
		`{"bakes": [{"id": "b-1"`:            "",
		`<html>`:                             "",
	} {
		server := newScripted(t, answer{body: body})
		out, err := awsjob.New(config(server.URL)).Call(t.Context(), describeBakes(t), oneBake)
		if want == "" {
			require.ErrorIs(t, err, awsjob.ErrAnswer, body)
			var broken *smithy.DeserializationError
			require.ErrorAs(t, err, &broken)
			require.True(t, goerror.Classify(err).MayHaveActed())
			require.Len(t, server.take(), 1, "an answer that cannot be read is not asked for again")
			continue
		}
		require.NoError(t, err, body)
		text, err := json.Marshal(out)
		require.NoError(t, err)
		require.Equal(t, compact(t, want), compact(t, string(text)))
	}
}

// compact sorts members and keeps the digits of numbers.
func compact(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	sorted, err := json.Marshal(value)
	require.NoError(t, err)
	return string(sorted)
}

func TestRESTBindings(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{status: http.StatusCreated, body: `{"harvestId": "h-1"}`})
	out, err := awsjob.New(config(server.URL+"/base/")).Call(t.Context(), fixture(t, "gardens", "CreateHarvest"), map[string]any{
		"bedName": "north/a b", "requester": "me", "meta": map[string]any{"k": "v"}, "dry": true, "since": 1795000000,
		"tags": []any{"x&y", "z"}, "more": map[string]any{"m": "1"}, "crops": []string{"kale"}, "until": "2026-11-21T12:00:00Z", "at": 1795000000,
	})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"harvestId": "h-1"}, out)
	got := server.take()[0]
	require.Equal(t, "PUT /base/beds/north/a%20b/harvests", got.Method+" "+got.Path)
	require.Equal(t, "dryRun=true&m=1&since=2026-11-18T11%3A06%3A40Z&tag=x%26y&tag=z", got.Query)
	require.Equal(t, "me", got.Header.Get("X-Garden-Requester"))
	require.Equal(t, "v", got.Header.Get("X-Garden-Meta-K"))
	require.JSONEq(t, `{"cropList": ["kale"], "until": 1795262400, "at": "2026-11-18T11:06:40Z"}`, got.Body)

	server = newScripted(t, answer{
		header: map[string]string{"ETag": `"7"`, "Last-Modified": "Sat, 21 Nov 2026 12:00:00 GMT", "X-Garden-Meta-Colour": "green"},
		body:   `{"harvestStatus": "IN", "yield": 1.5}`,
	})
	out, err = awsjob.New(config(server.URL)).Call(t.Context(), fixture(t, "gardens", "GetHarvest"), map[string]any{"harvestId": "h/1"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"httpStatus": json.Number("200"), "etag": `"7"`, "modified": "2026-11-21T12:00:00Z", "meta": map[string]any{"colour": "green"},
		"harvest": map[string]any{"status": "IN", "yield": json.Number("1.5")},
	}, out)
	require.Equal(t, "/harvests/h%2F1", server.take()[0].Path)
}

// An input that does not fit is not sent, and all that is wrong is told.
func TestInput(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	client := awsjob.New(config(server.URL))
	for _, tt := range []struct {
		name  string
		input any
		want  string
	}{
		{"several", map[string]any{"kitchn": "x"}, `invalid job arguments of ovens:DescribeBakes: 2 problems:
/kitchn: the input of DescribeBakes has no member "kitchn" (did you mean "kitchen"?)
the input of DescribeBakes needs the member "bakeIds"`},
		{"nothing", nil, `the input of DescribeBakes needs the member "bakeIds"`},
		{"no object", []string{"x"}, "expected the input of DescribeBakes, found an array"},
		{"no JSON", math.Inf(1), "json: unsupported value"},
		{"text", json.RawMessage("{\n  \"bakeIds\": 7}"), "2:14: /bakeIds: expected an array, found a number (7)"},
		{"half a text", json.RawMessage(`{`), "1:2"},
		{"twice", json.RawMessage(`{"bakeIds": [], "bakeIds": []}`), "bakeIds"},
		{"null", map[string]any{"bakeIds": nil}, "/bakeIds: expected an array, found null"},
	} {
		_, err := client.Call(t.Context(), describeBakes(t), tt.input)
		require.ErrorIs(t, err, jobs.ErrArguments, tt.name)
		require.ErrorContains(t, err, tt.want, tt.name)
	}
	// A part of the path is needed, whether the model says so or not.
	_, err := client.Call(t.Context(), fixture(t, "gardens", "GetHarvest"), nil)
	require.ErrorContains(t, err, `the input of GetHarvest needs the member "harvestId"`)
	// It does not lead out of its place, to what another operation is about.
	for _, id := range []string{"", ".", ".."} {
		_, err = client.Call(t.Context(), fixture(t, "gardens", "GetHarvest"), map[string]any{"harvestId": id})
		require.ErrorIs(t, err, jobs.ErrArguments, id)
		require.ErrorContains(t, err, "/harvestId: expected a string that is not empty", id)
	}
	for _, bed := range []string{"..", "../../gates", "north/..", "north/./a"} {
		_, err = client.Call(t.Context(), fixture(t, "gardens", "CreateHarvest"), map[string]any{"bedName": bed})
		require.ErrorIs(t, err, jobs.ErrArguments, bed)
		require.ErrorContains(t, err, "bedName is part of the request's path", bed)
	}
	require.Empty(t, server.take())
	_, err = client.Call(t.Context(), fixture(t, "gardens", "GetHarvest"), map[string]any{"harvestId": "..."})
	require.NoError(t, err)
	require.Equal(t, "/harvests/...", server.take()[0].Path)
}

func TestFloats(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	client := awsjob.New(config(server.URL))
	for input, want := range map[string]string{`1e3`: `1000`, `"NaN"`: `"NaN"`, `"-Infinity"`: `"-Infinity"`, `"Infinity"`: `"Infinity"`} {
		_, err := client.Call(t.Context(), fixture(t, "ovens", "StartBake"), json.RawMessage(`{"recipe": "rye", "heat": {"degrees": `+input+`}}`))
		require.NoError(t, err)
		require.JSONEq(t, `{"recipe": "rye", "heat": {"degrees": `+want+`}}`, server.take()[0].Body)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	start := fixture(t, "ovens", "StartBake")
	for _, tt := range []struct {
		name    string
		options []awsjob.Option
		input   string
		want    string
	}{
		{"not asked for", nil, `{"recipe": "rye"}`, `{"recipe": "rye"}`},
		{"asked for", []awsjob.Option{awsjob.WithTokens(func() (string, error) { return "t-1", nil })}, `{"recipe": "rye"}`, `{"recipe": "rye", "clientToken": "t-1"}`},
		{"given", []awsjob.Option{awsjob.WithTokens(func() (string, error) { return "", context.Canceled })}, `{"recipe": "rye", "clientToken": "own"}`, `{"recipe": "rye", "clientToken": "own"}`},
	} {
		_, err := awsjob.New(config(server.URL), tt.options...).Call(t.Context(), start, json.RawMessage(tt.input))
		require.NoError(t, err, tt.name)
		require.JSONEq(t, tt.want, server.take()[0].Body, tt.name)
	}
	_, err := awsjob.New(config(server.URL), awsjob.WithTokens(func() (string, error) { return "", context.Canceled })).
		Call(t.Context(), start, json.RawMessage(`{"recipe": "rye"}`))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, server.take())
}

func TestRetries(t *testing.T) {
	t.Parallel()
	throttled := answer{status: http.StatusBadRequest, body: `{"__type": "ThrottlingException", "message": "slower"}`}
	broken := answer{status: http.StatusServiceUnavailable, body: `<html>`}
	denied := answer{status: http.StatusForbidden, body: `{"__type": "AccessDeniedException", "message": "no"}`}
	fine := answer{body: `{"bakes": []}`}
	for _, tt := range []struct {
		name    string
		answers []answer
		options []awsjob.Option
		tries   int
		code    string // of the error; empty if there is none
	}{
		{"throttled once", []answer{throttled, fine}, nil, 2, ""},
		{"broken twice", []answer{broken, broken, fine}, nil, 3, ""},
		{"throttled for good", []answer{throttled}, nil, 3, "ThrottlingException"},
		{"broken for good", []answer{broken}, nil, 3, "UnknownError"},
		{"denied", []answer{denied, fine}, nil, 1, "AccessDeniedException"},
		{"throttled, without retries", []answer{throttled, fine}, []awsjob.Option{awsjob.WithoutRetries()}, 1, "ThrottlingException"},
	} {
		server := newScripted(t, tt.answers...)
		out, err := awsjob.New(config(server.URL), tt.options...).Call(t.Context(), describeBakes(t), oneBake)
		got := server.take()
		require.Len(t, got, tt.tries, tt.name)
		require.Equal(t, got[0].Body, got[len(got)-1].Body)
		if tt.code == "" {
			require.NoError(t, err, tt.name)
			require.Equal(t, map[string]any{"bakes": []any{}}, out)
			continue
		}
		var api *awsjob.Error
		require.ErrorAs(t, err, &api, tt.name)
		require.Equal(t, tt.code, api.Code)
	}
	server := newScripted(t, throttled)
	cfg := config(server.URL)
	cfg.RetryMaxAttempts = 5
	_, err := awsjob.New(cfg).Call(t.Context(), describeBakes(t), oneBake)
	require.Error(t, err)
	require.Len(t, server.take(), 5)
}

// A service whose clock is ahead refuses the first try, and gets a second that
// is signed by its clock.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	ahead := time.Now().Add(3 * time.Hour).UTC()
	server := newScripted(t,
		answer{
			status: http.StatusForbidden, body: `{"__type": "RequestTimeTooSkewed", "message": "late"}`,
			header: map[string]string{"Date": ahead.Format(http.TimeFormat)},
		},
		answer{body: `{"bakes": []}`, header: map[string]string{"Date": ahead.Format(http.TimeFormat)}})
	_, err := awsjob.New(config(server.URL)).Call(t.Context(), describeBakes(t), oneBake)
	require.NoError(t, err)
	got := server.take()
	require.Len(t, got, 2)
	signed, err := time.Parse("20060102T150405Z", got[1].Header.Get("X-Amz-Date"))
	require.NoError(t, err)
	require.WithinDuration(t, ahead, signed, time.Minute)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	call := func(a answer) (*scripted, error) {
		server := newScripted(t, a)
		_, err := awsjob.New(config(server.URL)).Call(t.Context(), describeBakes(t), oneBake)
		return server, err
	}
	_, err := call(answer{body: `{"bakes": [{"id": "` + strings.Repeat("x", awsjob.MaxAnswer) + `"}]}`})
	require.ErrorIs(t, err, awsjob.ErrAnswer)
	require.ErrorContains(t, err, "longer than 8388608 bytes")
	_, err = call(answer{status: http.StatusBadRequest, body: strings.Repeat("x", awsjob.MaxAnswer+1)})
	require.ErrorIs(t, err, awsjob.ErrAnswer)
	_, err = call(answer{body: `{"new": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`})
	require.ErrorContains(t, err, "it nests deeper than 1000")
	_, err = call(answer{body: `{"bakes": [{"id": "` + strings.Repeat(`[\"\\`, 2000) + `"}]}`})
	require.NoError(t, err, "brackets in a string are no nesting")

	target := newScripted(t, answer{body: `{"bakes": []}`})
	for _, status := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server, err := call(answer{status: status, header: map[string]string{"Location": target.URL}})
		var api *awsjob.Error
		require.ErrorAs(t, err, &api)
		require.Len(t, server.take(), 1)
	}
	require.Empty(t, target.take(), "a signed request goes nowhere else")
	cfg := config("")
	redirecting := newScripted(t, answer{status: http.StatusTemporaryRedirect, header: map[string]string{"Location": target.URL}})
	cfg.BaseEndpoint, cfg.HTTPClient = &redirecting.URL, nil
	_, err = awsjob.New(cfg).Call(t.Context(), describeBakes(t), oneBake)
	require.Error(t, err)
	require.Empty(t, target.take(), "the SDK's client would have followed")
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := awsjob.New(config(server.URL)).Call(ctx, describeBakes(t), oneBake)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, server.take())
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	cfg := config(server.URL)
	cfg.Credentials = nil
	_, err := awsjob.New(cfg).Call(t.Context(), describeBakes(t), oneBake)
	require.ErrorContains(t, err, "there are no credentials")
	require.Empty(t, server.take())
	cfg.Credentials = aws.AnonymousCredentials{}
	_, err = awsjob.New(cfg).Call(t.Context(), describeBakes(t), oneBake)
	require.NoError(t, err)
	require.Empty(t, server.take()[0].Header.Get("Authorization"))
}

// A service of the query protocol's past has two names for an error.
func TestErrorsWithTwoNames(t *testing.T) {
	t.Parallel()
	text := `{
		"name": "Queue", "key": "queue", "apiVersion": "1", "protocols": ["json"], "jsonVersion": "1.0", "targetPrefix": "Queue", "queryCompatible": true,
		"endpoint": {"prefix": "queue"}, "shapes": {},
		"operations": {"Describe": {"errors": [{"shape": "QueueDoesNotExist", "code": "AWS.Queue.NonExistent", "status": 400}]}}
	}`
	op := service(t, text).Operations["Describe"]
	for _, tt := range []struct {
		name, header, body string
		codes              []string
		fault              smithy.ErrorFault
		status             int // 0 stands for 400
	}{
		{"both are sent", "AWS.Queue.Other;Receiver", `{"__type": "x#QueueGone"}`, []string{"AWS.Queue.Other", "QueueGone"}, smithy.FaultServer, 0},
		{"a fault of the sender", "AWS.Queue.Other;Sender", `{"__type": "x#QueueGone"}`, []string{"AWS.Queue.Other", "QueueGone"}, smithy.FaultClient, 500},
		{"the shape alone", "", `{"__type": "x#QueueDoesNotExist"}`, []string{"QueueDoesNotExist", "AWS.Queue.NonExistent"}, smithy.FaultClient, 0},
		{"the code alone", "", `{"__type": "AWS.Queue.NonExistent"}`, []string{"AWS.Queue.NonExistent", "QueueDoesNotExist"}, smithy.FaultClient, 0},
		{"one name", "", `{"__type": "QueueGone"}`, []string{"QueueGone"}, smithy.FaultClient, 0},
	} {
		server := newScripted(t, answer{status: cmp.Or(tt.status, http.StatusBadRequest), body: tt.body, header: map[string]string{"X-Amzn-Query-Error": tt.header}})
		_, err := awsjob.New(config(server.URL)).Call(t.Context(), op, nil)
		require.Equal(t, "true", server.take()[0].Header.Get("X-Amzn-Query-Mode"))
		var api *awsjob.Error
		require.ErrorAs(t, err, &api, tt.name)
		require.Equal(t, tt.codes[0], api.ErrorCode(), tt.name)
		require.Equal(t, tt.fault, api.ErrorFault(), tt.name)
		for _, code := range tt.codes {
			check, compileErr := pollcore.Compile[any, any](pollcore.MustNew("Gone", pollcore.Succeed(pollcore.ErrorType(code))))
			require.NoError(t, compileErr)
			require.Equal(t, pollcore.Success, check.Check(nil, nil, err).Verdict, "%s: %s", tt.name, code)
		}
	}
}

// Glacier's documentation asks for a header that its model does not have.
func TestGlacier(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	_, err := awsjob.New(config(server.URL)).Call(t.Context(), operation(t, "glacier", "DescribeVault"), map[string]any{"accountId": "-", "vaultName": "v"})
	require.NoError(t, err)
	got := server.take()[0]
	require.Equal(t, "2012-06-01", got.Header.Get("X-Amz-Glacier-Version"))
	require.Equal(t, "/-/vaults/v", got.Path)
}
