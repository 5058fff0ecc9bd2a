package pastjobs_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Files of durations, with what is read of each.
func TestReadDurations(t *testing.T) {
	t.Parallel()
	glue, err := catalog.AWS().Lookup("glue", "StartJobRun")
	require.NoError(t, err)
	const took = 15*time.Minute + 3*time.Second
	for name, c := range map[string]struct {
		text     string
		entry    *catalog.Entry
		from, to time.Duration
		jobs     int
		left     string
	}{
		"durations":          {text: "15m3s\n", from: took, to: took, jobs: 1},
		"seconds":            {text: "# past\n\n903\n903.0\n", from: took, to: took, jobs: 2},
		"clock":              {text: "0:15:03\n00:15:03.0\n", from: took, to: took, jobs: 2},
		"byte order mark":    {text: "\xef\xbb\xbf903\r\n", from: took, to: took, jobs: 1},
		"quotes":             {text: "\"903\"\n\"15m3s\"\n", from: took, to: took, jobs: 2},
		"json text":          {text: `"15m3s"`, from: took, to: took, jobs: 1},
		"deep json":          {text: strings.Repeat("[", 9_000) + "903" + strings.Repeat("]", 9_000), from: took, to: took, jobs: 1},
		"heading":            {text: "seconds\n903\n", from: took, to: took, jobs: 1},
		"heading below":      {text: "\n# past\nduration\n# the first\n15m3s\n\n903\n", from: took, to: took, jobs: 2},
		"csv":                {text: "id,Start Time,end_time\n7,2026-11-23T01:00:00Z,2026-11-23T01:15:03Z\n8,2026-11-23T01:00:00Z,\n", from: took, to: took, jobs: 1, left: "1 job without an end"},
		"clock set back":     {text: "start,end\n2026-10-25 01:59:00,2026-10-25 01:01:00\n2026-11-23 01:00:00,2026-11-23 01:15:03\n", from: took, to: took, jobs: 1, left: "1 job with an end before the start"},
		"csv of two times":   {text: "2026-11-23 01:00:00,2026-11-23 01:15:03\n", from: took, to: took, jobs: 1},
		"csv of intervals":   {text: "14m;903", from: 14 * time.Minute, to: took, jobs: 1},
		"csv since 1970":     {text: "start\tend\n1763859600\t1763860503.0\n", from: took, to: took, jobs: 1},
		"same second":        {text: "2026-11-23T01:00:00Z,2026-11-23T01:00:00Z\n", from: 0, to: time.Second, jobs: 1},
		"json":               {text: `[903, "15m3s"]`, from: took, to: took, jobs: 2},
		"json lines":         {text: `{"seconds": 903}` + "\n" + `{"duration": "15m3s"}`, from: took, to: took, jobs: 2},
		"list of a service":  {text: `{"JobRuns": [{"Id": "jr_1", "Attempt": 0, "StartedOn": 1763859600.0, "CompletedOn": 1763860503.0, "LastModifiedOn": 1}, {"Id": "jr_2", "StartedOn": 1763859600.0}]}`, entry: glue, from: took, to: took, jobs: 1, left: "1 job without an end"},
		"an earlier run":     {text: `{"Runs": [{"start": "2026-11-23T01:00:00Z", "end": "2026-11-22T01:00:00Z"}, {"start": "2026-11-23T01:00:00Z", "end": "2026-11-23T01:15:03Z"}]}`, from: took, to: took, jobs: 1, left: "1 job with an end before the start"},
		"wait":               {text: `{"status": "SUCCEEDED", "service": "ec2", "name": "InstanceRunning", "operation": "DescribeInstances", "elapsedSeconds": 903, "statuses": [{"status": "pending", "afterSeconds": 0, "untilSeconds": 840}, {"status": "running", "afterSeconds": 903, "untilSeconds": 903}]}`, from: 14 * time.Minute, to: took, jobs: 1},
		"wait with times":    {text: `{"status": "FAILED", "service": "glue", "name": "StartJobRun", "elapsedSeconds": 7, "output": {"JobRun": {"StartedOn": "2026-11-23T01:00:00Z", "CompletedOn": "2026-11-23T01:15:03Z"}}}`, from: took, to: took, jobs: 1},
		"several waits":      {text: `{"status": "FAILED", "elapsedSeconds": 1000, "waits": [{"status": "SUCCEEDED", "elapsedSeconds": 903}, {"status": "TIMED_OUT", "elapsedSeconds": 1000}]}`, from: 0, to: took, jobs: 1, left: "1 job without an end"},
		"result of function": {text: `{"status": "SUCCEEDED", "waitSeconds": 0, "startedAt": "2026-11-23T01:00:00Z", "elapsedSeconds": 920, "lateSeconds": 17}`, from: took, to: took, jobs: 1},
		"result without":     {text: `{"status": "SUCCEEDED", "waitSeconds": 0, "startedAt": "2026-11-23T01:00:00Z", "elapsedSeconds": 920} 903`, from: took, to: took, jobs: 1, left: "1 job whose end nobody knows: their results have no lateSeconds"},
		"metrics":            {text: metric("glue:StartJobRun", `"JobsSucceeded": 1, "JobSeconds": 920, "Lateness": 17`) + metric("glue:StartJobRun", `"Checks": 1`) + metric("glue:StartJobRun", `"JobsFailed": 1, "JobSeconds": 920`), from: took, to: took, jobs: 1, left: "1 job whose end nobody knows: their metrics have no Lateness"},
		"metrics by name":    {text: metric("athena:StartQueryExecution", `"JobSeconds": 3, "Lateness": 1`) + metric("glue:StartJobRun", `"JobSeconds": 920, "Lateness": 17`), entry: glue, from: took, to: took, jobs: 1, left: "1 job of athena:StartQueryExecution"},
		"log":                {text: `{"events": [{"message": "START RequestId: 1\n"}, {"message": ` + strconv.Quote(metric("glue:StartJobRun", `"JobsSucceeded": 1, "JobSeconds": 920, "Lateness": 17`)) + `}, {"message": ` + strconv.Quote(metric("glue:StartJobRun", `"JobsTimedOut": 1, "JobSeconds": 7200`)) + `}, {"message": "{\"level\": \"WARN\"}"}], "searchedLogStreams": []}`, from: took, to: took, jobs: 1, left: "1 job without an end"},
		"kept again":         {text: strings.Repeat(`{"executionArn": "a", "jobs": [], "leftOut": {"without an end": 1}}`+"\n"+`{"executionArn": "a", "jobs": [{"state": "Get", "fromSeconds": 903, "toSeconds": 903}]}`+"\n", 2), from: took, to: took, jobs: 1},
		"kept twice":         {text: strings.Repeat(`{"executionArn": "a", "jobs": [{"state": "Get", "fromSeconds": 903, "toSeconds": 903}], "leftOut": {"without an end": 1}}`+"\n", 2), from: took, to: took, jobs: 1, left: "1 job without an end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := pastjobs.Parse([]byte(c.text), c.entry, "")
			require.NoError(t, err)
			require.Len(t, p.Ended, c.jobs)
			for _, j := range p.Ended {
				require.Equal(t, c.from, j.From)
				require.Equal(t, c.to, j.To)
			}
			require.Equal(t, c.left, leftText(p))
		})
	}
}

// leftText says which jobs do not count.
func leftText(p *pastjobs.Jobs) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(p.Left)) {
		all = append(all, fmt.Sprintf("%d job %s", p.Left[reason], reason))
	}
	return strings.Join(all, "; ")
}

// metric is a line of the functions' log.
func metric(job, values string) string {
	return fmt.Sprintf(`{"Job": %q, "Execution": "arn", %s, "_aws": {"Timestamp": 1}}`+"\n", job, values)
}

// In the history of an execution, polls saw the end where the service does not say it.
func TestReadDurationsOfHistory(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../cli/testdata/screens/history.json")
	require.NoError(t, err)
	p, err := pastjobs.Parse(text, nil, "Other")
	require.NoError(t, err)
	require.Empty(t, p.Ended, "no Task is Other")
	p, err = pastjobs.Parse(text, nil, "")
	require.NoError(t, err)
	require.Len(t, p.Ended, 1)
	require.Equal(t, pastjobs.Job{Sample: plan.Sample{From: 150 * time.Second, To: 180 * time.Second}}, p.Ended[0])
}

// Files that are no durations are refused, with the line and what was expected.
func TestHostileDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "the file is empty: expected a duration a line such as 15m3s",
		"\n\n":                    "the file is empty: expected a duration a line such as 15m3s",
		"903\nsoon\n":             `line 2: expected a duration such as 15m3s or 903 (seconds), found "soon"`,
		"903\nduration\n903":      `line 2: expected a duration such as 15m3s or 903 (seconds), found "duration"`,
		"903\n-3\n":               "line 2: a duration must not be negative, is -3s",
		"1e9":                     "line 1: a duration must be at most 365 days, is 1e9 s",
		"NaN":                     `line 1: expected a duration such as 15m3s or 903 (seconds), found "NaN"`,
		"903\n-Inf":               `line 2: expected a duration such as 15m3s or 903 (seconds), found "-Inf"`,
		"1e400":                   "line 1: a duration must be at most 365 days, is 1e400 s",
		"[1e400]":                 "the value at line 1: [0]: a duration must be at most 365 days, is 1e400 s",
		"-1e400":                  "line 1: a duration must not be negative, is -1e400 s",
		"-5e9":                    "line 1: a duration must not be negative, is -5e9 s",
		"\xff\xfe9\x000\x003\x00": "the file is UTF-16 text, as PowerShell's > writes it: save it as UTF-8",
		"\x1f\x8b\b":              "the file is compressed: unpack it",
		"903\n\x00\x01":           "line 2: the file is not text: it has the byte 0x00. Expected a duration a line such as 15m3s",
		"903\n\n9\xfe":            "line 3: the file is not text: it has the byte 0xfe. Expected a duration a line such as 15m3s",
		`"soon"`:                  `line 1: expected two times (start and end), or a heading with the columns start and end, or duration, found soon`,
		"duration\n1\"2\n":        `line 2, column 2: not CSV: bare " in non-quoted-field`,
		strings.Repeat("[", 9_999) + `"x"` + strings.Repeat("]", 9_999): "the value at line 1: [0][0]",
		"\n9000h":                                "line 2: a duration must be at most 365 days, is 9000h",
		"a,b\n1,2\n":                             "line 1: expected two times (start and end), or a heading with the columns start and end, or duration, found a, b",
		"start,b\n1,2":                           "line 1: expected the columns start and end, or duration, found start, b",
		"start,end\n2026-11-23T01:00:00Z,soon\n": `line 2: expected a time such as 2026-11-23T01:15:00Z, found "soon"`,
		"3,2":                                    "line 1: the longest time (2s) must not be below the shortest (3s)",
		"start,end\n\"2026":                      "line 2, column 6: not CSV: extraneous or missing \" in quoted-field",
		"{\"a\": 1}":                             "it has no durations: expected numbers of seconds, or objects with the members start and end, found an object with a",
		"{\"jobSummaryList\": []}":               "it has no durations: its list jobSummaryList is empty",
		"[]":                                     "it has no durations: expected numbers of seconds, or objects with the members start and end, found none",
		"[1,\n2":                                 "line 2: the text is cut off: it ends in the middle of a JSON value",
		"[1,\n}":                                 "line 2: invalid character '}'",
		"[1]\n\n[2, \"x\"]":                      `the value at line 3: [1]: expected a duration such as 15m3s or 903 (seconds), found "x"`,
		`{"events": [1]}`:                        "the value at line 1: expected the history of an execution",
		`{"runs": [{"start": "x", "end": "y"}]}`: `the value at line 1: runs[0]: expected a time such as 2026-11-23T01:15:00Z, found "x"`,
		metric("glue:StartJobRun", `"JobSeconds": 3, "Lateness": 1`) + metric("ec2:ImageAvailable", `"JobSeconds": 3`): "the value at line 2: the metrics are of glue:StartJobRun and of ec2:ImageAvailable: name the job",
		metric("glue:StartJobRun", `"JobSeconds": "long"`):                                                             "the value at line 1: a metric of the Lambda functions: json: ",
		metric("glue:StartJobRun", `"JobSeconds": 1e300, "Lateness": 1`):                                               "the value at line 1: a duration must be at most 365 days",
		`{"executionArn": "a", "jobs": [], "leftOut": {"x": 1000001}}`:                                                 `the value at line 1: leftOut: "x" must be from 0 to 1000000 jobs, is 1000001`,
		`{"executionArn": "a", "jobs": [], "leftOut": {"x": -1}}`:                                                      `the value at line 1: leftOut: "x" must be from 0 to 1000000 jobs, is -1`,
		`{"events": [{"message": ""}]}`:                                                                                "it has no durations",
		strings.Repeat("[", 20_000):                                                                                    "line 1: invalid character '[' exceeded max depth",
		"1\n" + strings.Repeat("9", 2<<20):                                                                             "line 2 has more than 1024 KiB: expected a duration a line such as 15m3s",
	} {
		_, err := pastjobs.Parse([]byte(text), nil, "")
		require.ErrorContains(t, err, want, "%.40s", text)
		require.Less(t, len(err.Error()), 400)
	}
	_, err := pastjobs.Parse(bytes.Repeat([]byte("1\n"), 1_000_001), nil, "")
	require.ErrorContains(t, err, "line 1000001: there are more than 1000000 durations: pass some of them")
	require.ErrorIs(t, err, pastjobs.ErrTooMany)
}

// requireReadOrRefused reads a text twice, with the same result. Jobs are possible ones,
// which can be learned from, and a refusal is short.
func requireReadOrRefused(t *testing.T, text string) {
	t.Helper()
	p, err := pastjobs.Parse([]byte(text), nil, "")
	again, err2 := pastjobs.Parse([]byte(text), nil, "")
	require.Equal(t, err, err2)
	require.Equal(t, p, again)
	if err != nil {
		require.Less(t, len(err.Error()), 1000)
		return
	}
	for _, j := range p.Ended {
		require.GreaterOrEqual(t, j.From, time.Duration(0))
		require.GreaterOrEqual(t, j.To, j.From)
		require.LessOrEqual(t, j.To, asl.MaxStandardTime)
	}
	if len(p.Ended) > 0 {
		_, err = plan.Learn(p.Samples())
		require.NoError(t, err)
	}
}

// Whatever a file holds, it is read or refused.
func FuzzReadDurations(f *testing.F) {
	for _, text := range []string{"903", "start,end\n1,2", `[{"start":1,"end":2}]`, `{"events":[{"id":1}]}`, `{"status":"FAILED","elapsedSeconds":1}`, metric("a", `"JobSeconds":3,"Lateness":1`), `{"events":[{"message":"{\"_aws\":{},\"JobSeconds\":1}"}]}`} {
		f.Add(text)
	}
	f.Fuzz(requireReadOrRefused)
}

// So are files that look like durations: made of their words, by the choices of the
// fuzzer.
func FuzzReadDurationsOfWords(f *testing.F) {
	words := map[byte][]string{
		'v': {
			"903", "15m3s", "0", "-3", "1e3", "1e400", "NaN", "Inf", "0x1p4", "9000h", "1763859600", "1763859600000.5", "2026-11-23T01:00:00Z",
			"2026-11-23 01:15:03", "soon", "", "\"903\"", "\"", "null", "true", `"15m3s"`, "1_000", "9223372036854775807", "-0", "1e-300",
		},
		'c': {"start", "end", "duration", "fromSeconds", "toSeconds", "lateSeconds", "id", "Started At", "status", "elapsedSeconds", "events", "startedAt", "waits"},
		's': {",", ";", "\t", "\n", "\r\n", " ", "#", ":"},
	}
	shapes := []string{"v\n", "csc\nvsv\n", "{c:v,c:v}", "[v,v]", "{c:[{c:v,c:v},{c:v}]}", "{c:{c:{c:v}}}", "vsv\n", "cs", "v"}
	for i := range shapes {
		f.Add([]byte{byte(i), 0, 1, 2, byte(i + 1), 3, 4, 5, 6, 7})
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		var b strings.Builder
		next := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			c := int(choices[0]) % n
			choices = choices[1:]
			return c
		}
		for len(choices) > 0 {
			shape := shapes[next(len(shapes))]
			for i := range len(shape) {
				list, isWord := words[shape[i]]
				switch {
				case !isWord:
					b.WriteByte(shape[i])
				case shape[i] == 'c' && strings.Contains(shape, "{"):
					b.WriteString(strconv.Quote(list[next(len(list))]))
				default:
					b.WriteString(list[next(len(list))])
				}
			}
		}
		requireReadOrRefused(t, b.String())
	})
}
