package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var jsonataSuites = []suite{
	{name: "jsonata-2.0.6", cases: 1625, folder: "jsonata-2.0.6", run: runJSONata},
	{name: "jsonata in asl-recordings", cases: 79, folder: "asl-recordings", run: runRecordedJSONata},
}

// jsonataCase is a case of the suite of JSONata; TESTSUITE.md describes them.
type jsonataCase struct {
	Expr            string          `json:"expr"`
	ExprFile        string          `json:"expr-file"`
	Data            json.RawMessage `json:"data"`
	Dataset         *string         `json:"dataset"`
	Bindings        map[string]any  `json:"bindings"`
	Result          any             `json:"result"`
	UndefinedResult bool            `json:"undefinedResult"`
	Unordered       bool            `json:"unordered"`
	Depth           int             `json:"depth"`
	Code            string          `json:"code"`
	Error           struct {
		Code string `json:"code"`
	} `json:"error"`
}

func runJSONata(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(folder, "groups", "*", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		for i, c := range jsonataCases(t, file) {
			r.total++
			if problem := c.judge(t, folder); problem != "" {
				group, base := filepath.Base(filepath.Dir(file)), filepath.Base(file)
				r.failures[fmt.Sprintf("%s/%s/%d", group, base, i)] = problem
			}
		}
	}
	return r
}

// jsonataCases reads a file, which has a case or a list of them.
func jsonataCases(t *testing.T, file string) []jsonataCase {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	if content[0] != '[' {
		content = slices.Concat([]byte("["), content, []byte("]"))
	}
	var cases []jsonataCase
	require.NoError(t, json.Unmarshal(content, &cases), file)
	for i, c := range cases {
		if c.ExprFile != "" {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(file), c.ExprFile))
			require.NoError(t, err)
			cases[i].Expr = string(text)
		}
	}
	return cases
}

// judge evaluates a case, and says what is wrong with the outcome.
func (c jsonataCase) judge(t *testing.T, folder string) string {
	t.Helper()
	got, err := c.eval(t, folder)
	if c.Code == "" {
		c.Code = c.Error.Code
	}
	code := ""
	if failure, ok := errors.AsType[*diag.SyntaxError](err); ok {
		code = failure.Code
	} else if failure, ok := errors.AsType[*jsonata.Error](err); ok {
		code = failure.Code
	}
	switch {
	case c.Code != "" || code != "":
		if code != c.Code {
			return fmt.Sprintf("%s: %v, %v, want code %q", c.Expr, got, err, c.Code)
		}
	case c.UndefinedResult:
		if !errors.Is(err, jsonata.ErrUndefined) {
			return fmt.Sprintf("%s: %v, %v, want undefined", c.Expr, got, err)
		}
	case err != nil || !c.isResult(got):
		return fmt.Sprintf("%s: %v, %v, want %v", c.Expr, got, err, c.Result)
	}
	return ""
}

func (c jsonataCase) eval(t *testing.T, folder string) (any, error) {
	t.Helper()
	e, err := jsonata.Compile(c.Expr)
	if err != nil {
		return nil, err
	}
	env := jsonata.Environment{
		Input: c.input(t, folder), Variables: map[string]any{},
		Now: time.Now(), Random: rand.New(rand.NewPCG(1, 2)),
	}
	maps.Copy(env.Variables, c.Bindings)
	// The language has $eval, which Step Functions has not, and some cases make ten
	// million values.
	env.Limits = &jsonata.Limits{Depth: c.depth(), Steps: 50_000_000, Bytes: 1 << 30, Eval: true}
	return e.Eval(t.Context(), env)
}

// depth is the limit that a case sets, or one that none meets.
func (c jsonataCase) depth() int {
	if c.Depth > 0 {
		return c.Depth
	}
	return 1_000
}

func (c jsonataCase) input(t *testing.T, folder string) any {
	t.Helper()
	text := c.Data
	if c.Dataset != nil {
		var err error
		text, err = os.ReadFile(filepath.Join(folder, "datasets", *c.Dataset+".json"))
		require.NoError(t, err)
	}
	if len(text) == 0 {
		return nil
	}
	return text // some cases see the order of members
}

func (c jsonataCase) isResult(got any) bool {
	got = floats(got)
	items, ok := got.([]any)
	want, both := c.Result.([]any)
	if !c.Unordered || !ok || !both {
		return reflect.DeepEqual(got, c.Result)
	}
	for _, item := range want {
		i := slices.IndexFunc(items, func(other any) bool { return reflect.DeepEqual(item, other) })
		if i < 0 {
			return false
		}
		items = slices.Delete(items, i, i+1)
	}
	return len(items) == 0
}

// floats is a value with its numbers as the suite has them.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = floats(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = floats(member)
		}
		return out
	}
	return v
}

// recordedCause is the cause of a failed expression in a recording.
var recordedCause = regexp.MustCompile(
	`The JSONata expression '(.*)' specified for the field '(.*)' (returned nothing|returned an unexpected result type` +
		`. Expected '(\w+)', but was '\w+' for value: (.*)$)`)

// runRecordedJSONata checks that the expressions of all recorded definitions
// compile, and that the causes of failed expressions read as recorded.
func runRecordedJSONata(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	require.NoError(t, err)
	expressions, causes := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var recording struct {
			Definition any `json:"definition"`
			Expect     struct {
				Cause string `json:"cause"`
			} `json:"expect"`
		}
		require.NoError(t, json.Unmarshal(content, &recording), file)
		collectExpressions(recording.Definition, expressions)
		if m := recordedCause.FindString(recording.Expect.Cause); m != "" {
			causes[recording.Expect.Cause] = true
		}
	}
	r.total = len(expressions) + len(causes)
	for text := range expressions {
		if _, err := jsonata.Compile(text); err != nil {
			r.failures[text] = err.Error()
		}
	}
	for cause := range causes {
		if problem := judgeCause(t, cause); problem != "" {
			r.failures[cause] = problem
		}
	}
	r.notes = []string{fmt.Sprintf("%d expressions, %d causes", len(expressions), len(causes))}
	return r
}

func collectExpressions(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		if inner, ok := strings.CutPrefix(v, "{%"); ok {
			into[strings.TrimSuffix(inner, "%}")] = true
		}
	case []any:
		for _, item := range v {
			collectExpressions(item, into)
		}
	case map[string]any:
		for _, member := range v {
			collectExpressions(member, into)
		}
	}
}

// judgeCause makes the error that a cause tells of, and says how its text
// differs.
func judgeCause(t *testing.T, cause string) string {
	t.Helper()
	m := recordedCause.FindStringSubmatch(cause)
	e, err := jsonata.Compile(m[1])
	if err != nil {
		return err.Error()
	}
	if m[4] == "" {
		_, err = e.Eval(t.Context(), jsonata.Environment{})
	} else {
		var value any
		require.NoError(t, json.Unmarshal([]byte(m[5]), &value), cause)
		err = &jsonata.ResultTypeError{Expected: m[4], Value: value}
	}
	if got := e.Cause(m[2], err); !strings.HasSuffix(cause, got) {
		return got
	}
	return ""
}
