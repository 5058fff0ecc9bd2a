package pollcore_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

const bucketExists = `{
  "BucketExists": {
    "documentation": "Wait until a bucket exists",
    "acceptors": [
      {"state": "success", "matcher": {"success": true}},
      {"state": "retry", "matcher": {"errorType": "NotFound"}}
    ],
    "minDelay": 5
  }
}`

func TestParseWaiters(t *testing.T) {
	t.Parallel()
	got, err := pollcore.ParseWaiters([]byte(bucketExists))
	require.NoError(t, err)
	want := pollcore.MustNew("BucketExists",
		pollcore.Succeed(pollcore.AnyResponse()), pollcore.Again(pollcore.ErrorType("NotFound")))
	want.Documentation, want.MinDelay = "Wait until a bucket exists", 5
	require.Equal(t, []*pollcore.Waiter{want}, got)
}

func TestWaiterJSONRoundTrip(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("Everything",
		pollcore.FailWithMessage(pollcore.Output("a.b").Is("x"), "a.reason"),
		pollcore.Fail(pollcore.Output("a.l").Any("x")),
		pollcore.Succeed(pollcore.Output("a.l").All("y")),
		pollcore.Succeed(pollcore.Output("a.t").IsTrue()),
		pollcore.Again(pollcore.Output("a.t").IsFalse()),
		pollcore.Again(pollcore.AnyError()),
		pollcore.Again(pollcore.ErrorType("com.example#Gone")),
		pollcore.Delay(3*time.Second, 4*time.Minute))
	w.Deprecated, w.Tags = true, []string{"one"}
	text, err := json.Marshal(w)
	require.NoError(t, err)
	got := &pollcore.Waiter{Name: "Everything"}
	require.NoError(t, json.Unmarshal(text, got))
	require.Equal(t, w, got)
}

func TestParseWaiterRefuses(t *testing.T) {
	t.Parallel()
	const ok = `{"state":"success","matcher":{"success":true}}`
	tests := []struct {
		name, waiter, text string
		want               []string
	}{
		{"not JSON", "A", `{"acceptors":`, []string{"1:14: not valid JSON"}},
		{"not an object", "A", `[]`, []string{"expected a waiter, found an array"}},
		{"unknown member", "A", `{"acceptors":[` + ok + `],"mindelay":3}`, []string{`1:63: /mindelay: a waiter has no member "mindelay" (did you mean "minDelay"?)`}},
		{"no acceptors", "A", `{}`, []string{`1:1: a waiter needs the member "acceptors"`}},
		{"misspelt acceptors", "A", `{"acceptor":[]}`, []string{"2 problems", `needs the member "acceptors"`, `did you mean "acceptors"`}},
		{"no success", "A", `{"acceptors":[{"state":"retry","matcher":{"success":true}}]}`, []string{"/acceptors: no acceptor has the state success"}},
		{"empty union", "A", `{"acceptors":[` + ok + `,{"state":"retry","matcher":{}}]}`, []string{"/acceptors/1/matcher: matcher must have exactly one of", "this one has 0"}},
		{"two in a union", "A", `{"acceptors":[{"state":"success","matcher":{"success":true,"errorType":"X"}}]}`, []string{"this one has 2"}},
		{"unknown matcher", "A", `{"acceptors":[{"state":"success","matcher":{"outptu":{}}}]}`, []string{`a matcher has no member "outptu" (did you mean "output"?)`}},
		{"too many acceptors", "A", `{"acceptors":[` + strings.Repeat(ok+`,`, 200) + ok + `]}`, []string{"/acceptors: a waiter has at most 200 acceptors, found 201"}},
		{"min above max", "A", `{"acceptors":[` + ok + `],"minDelay":30,"maxDelay":20}`, []string{"/minDelay: minDelay (30) must not be above maxDelay (20)"}},
		{"min above default max", "A", `{"acceptors":[` + ok + `],"minDelay":121}`, []string{"minDelay (121) must not be above maxDelay (120, the default)"}},
		{"delays out of range", "A", `{"acceptors":[` + ok + `],"minDelay":0,"maxDelay":1.5}`, []string{"/minDelay: expected a whole number from 1 to 2147483647, found a number (0)", "/maxDelay: expected"}},
		{"bad name", "bucket_exists", `{"acceptors":[` + ok + `]}`, []string{`waiter name "bucket_exists" must be UpperCamelCase`}},
		{"state of another word", "A", `{"acceptors":[` + ok + `,{"state":"error","matcher":{"success":true}}]}`, []string{`/acceptors/1/state: state must be success, failure or retry, got "error" (did you mean "failure"?)`}},
		{"misspelt state", "A", `{"acceptors":[` + ok + `,{"state":"Succes","matcher":{"success":true}}]}`, []string{`/acceptors/1/state: state must be success, failure or retry, got "Succes" (did you mean "success"?)`}},
		{"bad state", "A", `{"acceptors":[` + ok + `,{"state":"done","matcher":{"success":true}}]}`, []string{`/acceptors/1/state: state must be success, failure or retry, got "done"`}},
		{"bad comparator", "A", `{"acceptors":[{"state":"success","matcher":{"output":{"path":"a","expected":"b","comparator":"equals"}}}]}`, []string{`/comparator: comparator must be one of`}},
		{"bad boolean", "A", `{"acceptors":[{"state":"success","matcher":{"output":{"path":"a","expected":"TRUE","comparator":"booleanEquals"}}}]}`, []string{`/expected: expected must be "true" or "false" with booleanEquals, got "TRUE"`}},
		{"missing in path matcher", "A", `{"acceptors":[{"state":"success","matcher":{"inputOutput":{"path":"a"}}}]}`, []string{`needs the member "expected"`, `needs the member "comparator"`}},
		{"empty path", "A", `{"acceptors":[{"state":"success","matcher":{"output":{"path":"","expected":"b","comparator":"stringEquals"}}}]}`, []string{"path must be a JMESPath expression"}},
		{"message on success", "A", `{"acceptors":[{"state":"success","matcher":{"success":true},"message":"a"}]}`, []string{"/message: message is allowed on failure acceptors alone"}},
		{"bad errorType", "A", `{"acceptors":[` + ok + `,{"state":"retry","matcher":{"errorType":"not found"}}]}`, []string{"/errorType: errorType must be an error code"}},
		{"wrong types", "A", `{"acceptors":{},"documentation":1,"deprecated":"no","tags":[1]}`, []string{"/acceptors: expected an array, found an object", "/documentation: expected a string", "/deprecated: expected true or false", "/tags/0: expected a string"}},
		{"all at once", "a", `{"acceptors":[{"state":"x","matcher":{}}],"minDelay":9,"maxDelay":3,"y":1}`, []string{"5 problems", "UpperCamelCase", "/minDelay", "/acceptors/0/state", "/acceptors/0/matcher", "/y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := pollcore.ParseWaiter(tt.waiter, []byte(tt.text))
			require.ErrorAs(t, err, new(diag.Problems))
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestParseWaitersRefuses(t *testing.T) {
	t.Parallel()
	const ok = `{"acceptors":[{"state":"success","matcher":{"success":true}}]}`
	_, err := pollcore.ParseWaiters([]byte(`{"JobDone":` + ok + `,"Jobdone":` + ok + `}`))
	require.ErrorContains(t, err, "waiter names must differ in more than case: JobDone and Jobdone")
	_, err = pollcore.ParseWaiters([]byte(`[` + ok + `]`))
	require.ErrorContains(t, err, "expected an object of waiters by name, found an array")
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	_, err := pollcore.New("Done", pollcore.Succeed(pollcore.AnyResponse()), pollcore.Delay(time.Second/2, time.Minute))
	require.EqualError(t, err, "waiter Done: delays are whole seconds, got 500ms and 1m0s")
	_, err = pollcore.New("Done", pollcore.Succeed(pollcore.AnyResponse()), pollcore.Delay(-time.Second, -time.Minute))
	require.ErrorContains(t, err, "minDelay must be at least 1 second, got -1")
	require.PanicsWithValue(t, `pollcore: waiter Done: /acceptors: no acceptor has the state success, so the waiter could never succeed`,
		func() { pollcore.MustNew("Done") })
}

// FuzzParseWaiter: nothing panics, and a waiter that is accepted survives a
// round trip through its JSON form.
func FuzzParseWaiter(f *testing.F) {
	f.Add(bucketExists)
	f.Add(strings.TrimSuffix(strings.SplitN(bucketExists, ":", 2)[1], "}"))
	f.Add(`{"acceptors":[{"state":"success","matcher":{"output":{"path":"a","expected":"b","comparator":"stringEquals"}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = pollcore.ParseWaiters([]byte(text))
		w, err := pollcore.ParseWaiter("Fuzzed", []byte(text))
		if err != nil {
			return
		}
		out, err := json.Marshal(w)
		require.NoError(t, err)
		again, err := pollcore.ParseWaiter("Fuzzed", out)
		require.NoError(t, err)
		require.Equal(t, w, again)
		_, _ = pollcore.Compile[any, any](w)
	})
}
