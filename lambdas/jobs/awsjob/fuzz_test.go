package awsjob_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// canned is an HTTP client that has one answer, and keeps the request.
type canned struct {
	status int
	header http.Header
	body   []byte
	sent   *http.Request
	text   []byte // of the request
}

func (c *canned) Do(r *http.Request) (*http.Response, error) {
	c.sent = r
	if r.Body != nil {
		var err error
		if c.text, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(bytes.NewReader(c.body)), Request: r}, nil
}

// FuzzOutput: an answer, whatever it is, gives a value of the model or an error
// that says which.
func FuzzOutput(f *testing.F) {
	for _, body := range []string{
		`{"bakes": [{"id": "b-1", "startedAt": 1795000000.25, "parts": [{"weight": "NaN"}], "labels": {"a": null}}]}`,
		`{"harvestStatus": "IN", "startedAt": "2026-11-21T12:00:00Z", "yield": 1e3}`,
		`{"__type": "x#NoSuchBake:y", "Message": "gone", "code": 7}`,
		`{"bakes": [[{"\u0069d": null}, 7]]} x`, `{"bakes":[{"crumbs":-9223372036854775809}]}`, `[]`, `null`, `"`, ``, `<html>`,
	} {
		for _, status := range []int{200, 400, 503} {
			f.Add(true, status, "NoSuchBake", []byte(body))
			f.Add(false, status, "", []byte(body))
		}
	}
	bakes, harvest := describeBakes(f), fixture(f, "gardens", "GetHarvest")
	f.Fuzz(func(t *testing.T, rpc bool, status int, name string, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		op, input := harvest, map[string]any{"harvestId": "h"}
		if rpc {
			op, input = bakes, oneBake
		}
		client := &canned{status: status, body: body, header: http.Header{
			"X-Amzn-Errortype": {name}, "Etag": {name}, "Last-Modified": {name}, "X-Garden-Meta-X": {name},
		}}
		if name == "" {
			client.header = http.Header{}
		}
		cfg := config("https://example.com")
		cfg.HTTPClient = client
		out, err := awsjob.New(cfg, awsjob.WithoutRetries()).Call(t.Context(), op, input)
		if status >= 300 {
			var api *awsjob.Error
			require.ErrorAs(t, err, &api)
			require.NotEmpty(t, api.ErrorCode())
			return
		}
		if err != nil {
			require.ErrorIs(t, err, awsjob.ErrAnswer)
			require.Nil(t, out)
			return
		}
		requireOfShape(t, out, op.Output)
		_, err = json.Marshal(out)
		require.NoError(t, err)
	})
}

// requireOfShape requires a value to have nothing but what the shape has.
func requireOfShape(t *testing.T, value any, shape *catalog.Shape) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		require.Contains(t, []catalog.ShapeType{catalog.Structure, catalog.Map}, shape.Type)
		for name, item := range v {
			of := shape.Element
			if shape.Type == catalog.Structure {
				of = shape.Member(name)
			}
			require.NotNil(t, of, "%s has no member %s", shape.Name, name)
			requireOfShape(t, item, of.Shape)
		}
	case []any:
		require.Equal(t, catalog.List, shape.Type)
		for _, item := range v {
			requireOfShape(t, item, shape.Element.Shape)
		}
	case string:
		require.Contains(t, []catalog.ShapeType{catalog.String, catalog.Timestamp, catalog.Double, catalog.Float}, shape.Type)
	case json.Number:
		require.Contains(t, []catalog.ShapeType{catalog.Integer, catalog.Long, catalog.Double, catalog.Float}, shape.Type)
	default:
		require.Failf(t, "no such value", "%s: %T", shape.Name, value)
	}
}

// FuzzInput: an input is refused, or sent as JSON that has it all.
func FuzzInput(f *testing.F) {
	f.Add([]byte(`{"recipe": "rye", "loaves": 4, "heat": {"degrees": 220.5, "mode": "TOP"}, "due": "2026-11-21T12:00:00Z",
		"toppings": ["<é\u2028"], "labels": {"": "x"}, "glaze": {"egg": true}, "photo": "AAE=", "extra": {"any": [1e400, null]}}`))
	f.Add([]byte(`{"recipe": "\ud800", "due": -1.5, "heat": {"degrees": "NaN"}}`))
	f.Add([]byte(`{"recipe": "x", "recipe": "y", "glaze": {}}`))
	f.Add([]byte(`{"recipe": "x", "loaves": 1.0}`))
	start := fixture(f, "ovens", "StartBake")
	f.Fuzz(func(t *testing.T, text []byte) {
		client := &canned{status: 200}
		cfg := config("https://example.com")
		cfg.HTTPClient = client
		_, err := awsjob.New(cfg).Call(t.Context(), start, json.RawMessage(text))
		if err != nil {
			require.ErrorIs(t, err, jobs.ErrArguments)
			require.Nil(t, client.sent)
			return
		}
		var got, given map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(client.text, &got), "%s", client.text)
		require.NoError(t, json.Unmarshal(text, &given))
		require.Len(t, got, len(given))
		var name, same string
		require.NoError(t, json.Unmarshal(given["recipe"], &name))
		require.NoError(t, json.Unmarshal(got["recipe"], &same))
		require.Equal(t, name, same)
	})
}
