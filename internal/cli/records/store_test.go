package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// A list finds the few records that it is asked for among many, and reads each once.
func TestRecordsListAmongMany(t *testing.T) {
	t.Parallel()
	var reads atomic.Int32
	a := &account{server: newRecordServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/record.json") {
				reads.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})}
	a.url = a.server.URL()
	store, err := s3store.New(a.server.DirectClient(), "records", "jobpoller")
	require.NoError(t, err)
	began := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	create := func(status startrecord.Status, scope string) {
		key := startrecord.Key{ExecutionARN: nightly, Poller: "Ex port/~", Scope: scope}
		_, err := store.Create(t.Context(), key, startrecord.Record{Status: status, ExecutionStartTime: began, StartedAt: began})
		require.NoError(t, err)
	}
	const many = 20
	for i := range many {
		create(startrecord.StatusStarted, strconv.Itoa(i))
	}
	create(startrecord.StatusUnknown, "")
	reads.Store(0) // those of the probe
	code, stdout, stderr := a.command(t, "records", "list", "--status", "UNKNOWN", "--limit", "3")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Equal(t, "STATUS     STARTED               RECORD  JOB\nUNKNOWN    2026-11-20T09:30:14Z  "+nightly+" --poller 'Ex port/~'\n", stdout)
	require.Empty(t, stderr)
	require.EqualValues(t, many+1, reads.Load())

	long := strings.Repeat("z", 300) // its path has a hash
	create(startrecord.StatusUnknown, long)
	code, stdout, stderr = a.command(t, "records", "list", "--status", "UNKNOWN")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Contains(t, stdout, " --scope "+long+"\n")
	require.Equal(t, 2, strings.Count(stdout, "UNKNOWN"))
}

// tableItem is an item of a table of start records.
func tableItem(t *testing.T, key startrecord.Key, status startrecord.Status, written time.Time) map[string]any {
	t.Helper()
	w, err := startrecord.NewWrite("", key, startrecord.Record{Status: status, ExecutionStartTime: written, StartedAt: written}, "")
	require.NoError(t, err)
	return map[string]any{
		"key": map[string]any{"S": "jobpoller/" + key.Path()}, "record": map[string]any{"S": string(w.Body)},
		"version": map[string]any{"S": w.Record.Nonce}, "writtenAt": map[string]any{"N": strconv.FormatInt(written.Unix(), 10)},
	}
}

// The records of a table are read in pages, without a call for each, and the first are
// printed before the last are read.
func TestRecordsListOfATable(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 30, 14, 0, time.UTC)
	of := func(scope string) startrecord.Key {
		return startrecord.Key{ExecutionARN: nightly, Poller: handler.DefaultPoller, Scope: scope}
	}
	pages := [][]map[string]any{{}, {}}
	for i := range 200 {
		pages[i/100] = append(pages[i/100], tableItem(t, of(strconv.Itoa(i)), startrecord.StatusStarted, now.Add(-time.Hour)))
	}
	moved := tableItem(t, of("moved"), startrecord.StatusStarted, now)
	moved["key"] = map[string]any{"S": "jobpoller/elsewhere"} // no store reads it under this key
	probe := tableItem(t, startrecord.ProbeKey(), startrecord.StatusUnknown, now)
	broken := tableItem(t, of("broken"), startrecord.StatusStarted, now)
	broken["record"] = map[string]any{"S": strings.Replace(broken["record"].(map[string]any)["S"].(string), "STARTED", "BEGUN", 1)}
	pages[0] = append(pages[0], moved, probe, broken, map[string]any{"key": map[string]any{"S": "jobpoller/x"}, "record": map[string]any{"S": "{"}})
	pages[1] = append(pages[1], tableItem(t, of("last"), startrecord.StatusUnknown, now))
	for _, format := range []string{"text", "json"} {
		var stdout, stderr bytes.Buffer
		client := clitest.Client(func(r *http.Request, n int) (*http.Response, error) {
			require.Equal(t, "DynamoDB_20120810.Scan", r.Header.Get("X-Amz-Target"))
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			answer := map[string]any{"Items": pages[n-1]}
			if n == 1 {
				require.NotContains(t, string(body), "ExclusiveStartKey")
				answer["LastEvaluatedKey"] = map[string]any{"key": pages[0][99]["key"]}
			} else {
				require.Contains(t, string(body), `"ExclusiveStartKey":`)
				require.Contains(t, stdout.String(), nightly, "printed while the others are read")
			}
			text, err := json.Marshal(answer)
			require.NoError(t, err)
			response, err := clitest.RespondJSON(http.StatusOK, string(text))
			response.Header.Set("Date", now.Format(http.TimeFormat))
			return response, err
		}).Client()
		ctx := awssettings.WithClient(t.Context(), client)
		args := []string{"records", "list", "--table", "records", "--region", "eu-west-1", "--limit", "1000", "-o", format}
		require.Equal(t, kit.ExitSucceeded, runCommand(ctx, args, &stdout, &stderr), "%s", &stderr)
		require.EqualValues(t, 2, client.Number.Load())
		if format == "text" {
			require.Equal(t, 1+202, strings.Count(stdout.String(), "\n"))
			require.Contains(t, stdout.String(), "UNKNOWN    2026-11-20T10:30:14Z  "+nightly+" --scope last\n")
			require.Contains(t, stdout.String(), "unread     dynamodb://records/jobpoller/"+nightly+"/default/broken/record.json: malformed start record")
			continue
		}
		var list []listedRecord
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &list))
		require.Len(t, list, 202)
		require.InDelta(t, time.Hour.Seconds(), list[0].AgeSeconds, 2, "by the clock of the table")
		require.Equal(t, "dynamodb://records/jobpoller/"+nightly+"/default/0/record.json", list[0].Location)
		var again bytes.Buffer
		require.NoError(t, kit.WriteJSON(&again, list))
		require.Equal(t, again.String(), stdout.String())
	}
}

// What lies at the place of a record and cannot be one has a line in the list.
func TestRecordsListOfWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	for path, text := range map[string]string{
		"default/_": `{"executionArn": "` + nightly + `", "padding": "` + strings.Repeat("x", maxRecord) + `"}`,
		"other/_":   "{",
		"too/deep/": "{",
	} {
		_, err := a.server.DirectClient().PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("records"), Key: aws.String("jobpoller/" + nightly + "/" + path + "/record.json"), Body: strings.NewReader(text),
		})
		require.NoError(t, err)
	}
	code, stdout, stderr := a.command(t, "records", "list", nightly)
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	require.Len(t, lines, 3, stdout)
	lines = lines[1:]
	place := "s3://records/jobpoller/" + nightly
	require.Regexp(t, `^unread     `+place+`/default/_/record.json: it was not read: it has \d+ bytes, and a start record at most 4194304$`, lines[0])
	require.Contains(t, lines[1], place+"/other/_/record.json: ")
	_, stdout, _ = a.command(t, "records", "list", nightly, "-o", "json")
	require.Contains(t, stdout, `"location": "`+place+`/default/_/record.json",`)
}

// A list whose pages repeat themselves ends with an error. A record that is deleted
// between the listing and the read is left out.
func TestRecordsListWithoutEnd(t *testing.T) {
	t.Parallel()
	page := func(token string) string {
		return "<ListBucketResult><IsTruncated>" + strconv.FormatBool(token != "") + "</IsTruncated><NextContinuationToken>" + token +
			"</NextContinuationToken><Contents><Key>jobpoller/h/a/b/c/record.json</Key><Size>3</Size></Contents></ListBucketResult>"
	}
	for name, c := range map[string]struct {
		flag   string
		answer func(call int) string
		calls  int
		code   int
		want   string
	}{
		"one token of a bucket": {
			"--bucket", func(int) string { return page("A") }, 2, kit.ExitUnknown, "bucket records: the store does not work: the pages of its list repeat themselves",
		},
		"tokens of a bucket in a circle": {
			"--bucket", func(call int) string { return page([]string{"A", "B"}[call%2]) }, 3, kit.ExitUnknown, "bucket records: the store does not work",
		},
		"one key of a table": {
			"--table", func(int) string { return `{"Items": [], "LastEvaluatedKey": {"key": {"S": "a"}}}` }, 2, kit.ExitUnknown, "table records: the store does not work",
		},
		"an object that goes away": {"--bucket", func(int) string { return page("") }, 1, kit.ExitFailed, "found no such record"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			client := clitest.Client(func(r *http.Request, _ int) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "record.json") {
					return clitest.RespondJSON(http.StatusNotFound, "<Error><Code>NoSuchKey</Code></Error>")
				}
				if calls++; calls > c.calls {
					return nil, errors.New("the list has no end")
				}
				return clitest.RespondJSON(http.StatusOK, c.answer(calls))
			}).Client()
			var stdout, stderr bytes.Buffer
			args := []string{"records", "list", c.flag, "records", "--region", "eu-west-1"}
			require.Equal(t, c.code, runCommand(awssettings.WithClient(t.Context(), client), args, &stdout, &stderr), "%s", &stderr)
			require.Contains(t, stderr.String(), c.want)
			require.Equal(t, c.calls, calls)
		})
	}
}

// A list of a store that is not there, or that you may not read, says what to do.
func TestRecordsListOfNoStore(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"ResourceNotFoundException": "table records does not exist in this account and region: check its name, and pass --region",
		"AccessDeniedException":     "table records: access denied: grant dynamodb:Scan (AccessDeniedException: no)",
	} {
		var stdout, stderr bytes.Buffer
		client := clitest.Client(func(*http.Request, int) (*http.Response, error) {
			return clitest.RespondJSON(http.StatusBadRequest, `{"__type": "`+code+`", "message": "no"}`)
		}).Client()
		args := []string{"records", "list", "--table", "records", "--region", "eu-west-1"}
		require.Equal(t, kit.ExitUnknown, runCommand(awssettings.WithClient(t.Context(), client), args, &stdout, &stderr))
		require.Equal(t, "jobpoller: "+want+"\n", stderr.String())
	}
	a := &account{server: newRecordServer(t, nil)}
	a.url = a.server.URL()
	var stdout, stderr bytes.Buffer
	args := []string{"records", "list", "--bucket", "missing", "--region", "eu-west-1", "--endpoint-url", a.url}
	require.Equal(t, kit.ExitUnknown, runCommand(t.Context(), args, &stdout, &stderr))
	require.Equal(t, "jobpoller: bucket missing does not exist in this account and region: check its name, and pass --region\n", stderr.String())
}

// A write whose answer was lost was made, although its repetition is refused.
func TestMendAfterALostAnswer(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	a := &account{server: newRecordServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ofRecord := r.Method == http.MethodPut && strings.Contains(r.URL.Path, "run-1")
			if ofRecord && r.Header.Get("If-Match") != "" && writes.Add(1) == 1 {
				next.ServeHTTP(httptest.NewRecorder(), r)
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, r)
		})
	})}
	a.url = a.server.URL()
	store, err := s3store.New(a.server.DirectClient(), "records", "jobpoller")
	require.NoError(t, err)
	key := startrecord.Key{ExecutionARN: nightly, Poller: handler.DefaultPoller}
	began := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	_, err = store.Create(t.Context(), key, startrecord.Record{Status: startrecord.StatusUnknown, ExecutionStartTime: began, StartedAt: began})
	require.NoError(t, err)
	code, stdout, stderr := a.command(t, "records", "abandon", nightly, "--yes")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Contains(t, stdout, "The record is marked as refused.")
	require.EqualValues(t, 2, writes.Load())
	stored, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, startrecord.StatusFailed, stored.Record.Status)
}

// operatorCommands are those that read the store.
func operatorCommands() [][]string {
	return [][]string{{"records", "list"}, {"records", "show", nightly}, {"records", "status", nightly}, {"records", "doctor"}}
}

// A store that does not answer is told in a line without the SDK's words, and has an
// exit code of its own.
func TestStoreThatDoesNotAnswer(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	a := &account{url: gone.URL}
	for _, command := range operatorCommands() {
		code, stdout, stderr := a.command(t, command...)
		require.Equal(t, kit.ExitUnknown, code, "%q: %s%s", command, stdout, stderr)
		require.Contains(t, stdout+stderr, "bucket records: no answer from "+gone.URL)
		require.NotContains(t, stdout+stderr, "operation error")
	}
}

func TestInterruptedOperatorCommands(t *testing.T) {
	t.Parallel()
	for _, command := range operatorCommands() {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				cancel()
				<-r.Context().Done()
			}))
			defer silent.Close()
			var stdout, stderr bytes.Buffer
			command = append(command, "--bucket", "records", "--region", "eu-west-1", "--endpoint-url", silent.URL)
			require.Equal(t, kit.ExitInterrupted, runCommand(ctx, command, &stdout, &stderr), "%s%s", &stdout, &stderr)
			require.Empty(t, stdout.String())
		})
	}
}
