package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/terminal/terminaltest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// All pages of the list and of the histories are read, and executions that run are not.
func TestPlanFromExecutions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPastService(t, 25)
		s.running, s.pageSize = 4, 5
		p := s.planOf("--from-executions", nightlyARN)
		require.Equal(t, 21, p.Durations.Count)
		require.Equal(t, "nightly", p.Durations.Source)
		require.InDelta(t, 610, p.Durations.P50Seconds, 0.001, "run-11")
		require.InDelta(t, 600, p.Durations.ShortestSeconds, 0.001)
		require.InDelta(t, 620, p.Durations.LongestSeconds, 0.001)
		require.Equal(t, "eu-west-1", p.Region)
		require.Equal(t, "StartQueryExecution", p.Name)
		require.Equal(t, todayName, p.Schedules[0].Name)
		require.Len(t, s.at["ListExecutions"], 5)
		require.Len(t, s.at["GetExecutionHistory"], 21*3)
		require.Equal(t, "21", s.read[0], "the newest first")

		require.Equal(t, 3, s.planOf("--from-executions", nightlyARN, "--most", "3").Durations.Count)
		require.Equal(t, []string{"21", "20", "19"}, s.read)
		require.Equal(t, 1, s.planOf("--from-executions", runPrefix+"7", "athena", "StartQueryExecution").Durations.Count)
		require.Equal(t, []string{"7"}, s.read)
		china := s.planOf("--from-executions", strings.Replace(runPrefix+"7", "eu-west-1", "cn-north-1", 1), "athena", "StartQueryExecution")
		require.Equal(t, asl.DefaultRegion, china.Region)
		require.Contains(t, china.Notes, "prices and quotas are those of us-east-1: those of cn-north-1 are not known")
	})
}

// The calls stay within half of the quotas, and go on after throttling, more slowly.
func TestPlanLeavesQuotasToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPastService(t, 400)
		s.pageSize = 3 // 134 pages of the list, five of each history
		s.planOf("--from-executions", nightlyARN)
		for operation, calls := range map[string]int{"ListExecutions": 134, "GetExecutionHistory": 2000} {
			quota, ok := asl.QuotaOf(operation, "eu-west-1", asl.Standard)
			require.True(t, ok)
			at := s.at[operation]
			require.Len(t, at, calls)
			half := func(passed time.Duration) float64 {
				return float64(quota.Burst)/2 + passed.Seconds()*float64(quota.PerSecond)/2
			}
			for i := range at {
				require.LessOrEqual(t, float64(i+1), half(at[i]-at[0])+1e-3, "%s %d", operation, i)
			}
			require.GreaterOrEqual(t, float64(calls+1), half(at[calls-1]-at[0]), "%s is no slower", operation)
		}

		s = newPastService(t, 250)
		refused := 0
		s.answer = func(operation string, _ map[string]any) (int, string) {
			if n := len(s.at[operation]); operation == "GetExecutionHistory" && n > 10 && n <= 15 || operation == "ListExecutions" && n == 1 {
				refused++
				return http.StatusBadRequest, `{"__type":"ThrottlingException","message":"Rate exceeded"}`
			}
			return 0, ""
		}
		code, out, errs := s.run(t.Context(), "--from-executions", nightlyARN, "-o", "json")
		require.Zero(t, code, errs)
		require.Contains(t, out, `"count": 250`)
		require.Contains(t, errs, "last answer: ThrottlingException")
		require.Equal(t, 6, refused)
		at := s.at["GetExecutionHistory"]
		require.Less(t, at[9], time.Second*10)
		for i := 15; i < len(at); i++ {
			require.LessOrEqual(t, float64(i-14), (at[i]-at[14]).Seconds()*10+1e-3, "no burst is left after throttling")
		}
	})
}

// A command goes on where another was cut off: it reads what the file lacks.
func TestPlanKeepsWhatItRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPastService(t, 30)
		file := filepath.Join(t.TempDir(), "past.jsonl")
		keep := []string{"--from-executions", nightlyARN, "--keep", file}

		ctx, cancel := context.WithCancel(t.Context())
		s.answer = func(string, map[string]any) (int, string) {
			if len(s.read) == 13 {
				cancel()
			}
			return 0, ""
		}
		code, out, errs := s.run(ctx, keep...)
		require.Equal(t, kit.ExitInterrupted, code)
		require.Empty(t, out)
		require.Contains(t, errs, "interrupted")
		require.Regexp(t, `Read 1[23] of 30 histories. They are kept in .*past.jsonl: run the same command to go on`, errs)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		before := bytes.Count(text, []byte("\n"))
		require.Contains(t, []int{12, 13}, before)
		require.NotContains(t, string(text), "SECRET")
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())

		// The last line is cut off, as by a crash.
		require.NoError(t, os.WriteFile(file, text[:len(text)-20], 0o600))
		s.answer = nil
		require.Equal(t, 30, s.planOf(keep...).Durations.Count)
		var want []string
		for n := 30 - (before - 1); n > 0; n-- {
			want = append(want, strconv.Itoa(n))
		}
		require.Equal(t, want, s.read, "the others are not read again")

		p := s.planOf(keep...)
		require.Empty(t, s.read)
		require.Equal(t, 30, p.Durations.Count)
		s.runs = 32
		require.Equal(t, 32, s.planOf(keep...).Durations.Count)
		require.Equal(t, []string{"32", "31"}, s.read)

		text, err = os.ReadFile(file)
		require.NoError(t, err)
		known, err := pastjobs.Parse(text, nil, "")
		require.NoError(t, err)
		require.Len(t, known.Ended, 32)
		others, err := pastjobs.Parse(text, nil, "GetOther")
		require.NoError(t, err)
		require.Empty(t, others.Ended)
		require.Equal(t, []string{"left out: 32 jobs of other Tasks than GetOther"}, leftNotes(others))
		require.Equal(t, 7*time.Second, *known.Ended[0].Late)
		of := s.planOf("--durations", file).Durations
		of.Source = p.Durations.Source
		require.Equal(t, s.planOf(keep...).Durations, of)
	})
}

// A file of another state machine, or of something else, is refused and not changed.
func TestPlanRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const line = `{"executionArn":"` + runPrefix + `1","jobs":[{"state":"A","fromSeconds":1,"toSeconds":2}]}` + "\n"
		for text, want := range map[string]string{
			strings.ReplaceAll(line, ":nightly:", ":weekly:"):               `line 1: it is of another state machine than nightly: arn:aws:states:eu-west-1:123456789012:execution:weekly:run-1. Pass another file`,
			strings.ReplaceAll(line, "eu-west-1", "us-east-1"):              "of another state machine",
			line + `{"delays": [900]`:                                       "line 2: it is not a line that --keep writes",
			line + "\n" + line:                                              "line 2: it is not a line that --keep writes (unexpected end of JSON input)",
			`[1, 2]` + "\n":                                                 "line 1: it is not a line that --keep writes",
			strings.Replace(line, `"fromSeconds":1`, `"fromSeconds":-1`, 1): "a duration must not be negative",
			strings.Replace(line, `"toSeconds":2`, `"toSeconds":1e300`, 1):  "line 1",
			strings.Replace(line, `"jobs":`, `"jbos":`, 1):                  "executionArn or jobs is missing",
		} {
			s := newPastService(t, 3)
			file := clitest.WriteFile(t, "past.jsonl", text)
			code, _, errs := s.run(t.Context(), "--from-executions", nightlyARN, "--keep", file)
			require.Equal(t, kit.ExitUsage, code, errs)
			require.Contains(t, errs, want)
			require.Empty(t, s.read)
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, text, string(after))
		}
		s := newPastService(t, 3)
		code, _, errs := s.run(t.Context(), "--from-executions", nightlyARN, "--keep", t.TempDir())
		require.Equal(t, kit.ExitUsage, code)
		require.Contains(t, errs, "is a folder, expected a file")
	})
}

// What Step Functions refuses ends the command with what to do; a refused description
// leaves out today's schedule alone.
func TestPlanIsRefused(t *testing.T) {
	t.Parallel()
	const denied = `{"__type":"AccessDeniedException","message":"you may not"}`
	for operation, want := range map[string]string{
		"ListExecutions":      "access denied: grant states:ListExecutions (AccessDeniedException: you may not)",
		"GetExecutionHistory": "access denied: grant states:GetExecutionHistory (AccessDeniedException: you may not)\nRead 0 of 3 histories. Nothing is kept: with --keep FILE the next command goes on",
	} {
		s := newPastService(t, 3)
		s.answer = refuse(operation, http.StatusBadRequest, denied)
		code, out, errs := s.run(t.Context(), "--from-executions", nightlyARN)
		require.Equal(t, kit.ExitUnknown, code)
		require.Empty(t, out)
		require.Contains(t, errs, want)
		require.Len(t, s.at[operation], 1)
		require.NotContains(t, errs, "last answer", "nothing waits for another")
	}
	s := newPastService(t, 3)
	s.answer = refuse("DescribeStateMachine", http.StatusBadRequest, denied)
	p := s.planOf("--from-executions", nightlyARN)
	require.Equal(t, []string{
		"a plan from 3 jobs is rough, and can be later than asked: plan again when 100 have ended",
		"today's schedule is not shown: access denied: grant states:DescribeStateMachine (AccessDeniedException: you may not)",
	}, p.Notes)
	require.NotEqual(t, todayName, p.Schedules[0].Name)

	s = newPastService(t, 3)
	s.answer = refuse("DescribeStateMachine", http.StatusBadRequest, `{"__type":"StateMachineDoesNotExist","message":"no"}`)
	code, _, errs := s.run(t.Context(), "--from-executions", nightlyARN)
	require.Equal(t, kit.ExitUnknown, code)
	require.Equal(t, "jobpoller: "+nightlyARN+": there is no such state machine or Map Run: check the account and the region\n", errs)

	s.answer = refuse("DescribeStateMachine", http.StatusOK, `{"type":"EXPRESS","definition":"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Succeed\"}}}"}`)
	code, _, errs = s.run(t.Context(), "--from-executions", nightlyARN)
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, errs, "keeps no history of Express executions. Pass the file of their log: --durations FILE")
}

func refuse(refused string, status int, body string) func(string, map[string]any) (int, string) {
	return func(operation string, _ map[string]any) (int, string) {
		if operation == refused {
			return status, body
		}
		return 0, ""
	}
}

// Answers that cannot be right end in an error or leave out what they are of.
func TestPlanSurvivesHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operation, body string
		code            int
		want            string
	}{
		"no executions":     {"ListExecutions", `{"executions":[]}`, kit.ExitUsage, "nightly: it has no durations of jobs that ended. Wait until some have ended"},
		"another machine's": {"ListExecutions", `{"executions":[{"executionArn":"arn:x","status":"SUCCEEDED"}]}`, kit.ExitUnknown, `it lists "arn:x", which is no execution of nightly`},
		"one token":         {"ListExecutions", `{"executions":[],"nextToken":"A"}`, kit.ExitUnknown, "its pages do not end"},
		"torn list":         {"ListExecutions", `{"executions":[`, kit.ExitUnknown, "states"},
		"no events":         {"GetExecutionHistory", `{"events":[]}`, kit.ExitUsage, "left out: 3 jobs of executions whose history cannot be read"},
		"torn history":      {"GetExecutionHistory", `{"events":[{"id":1`, kit.ExitUnknown, "Read 0 of 3 histories"},
		"deleted":           {"GetExecutionHistory", `{"__type":"ExecutionDoesNotExist","message":"no"}`, kit.ExitUsage, "left out: 3 jobs of executions that Step Functions no longer keeps"},
		"polls nothing": {
			"GetExecutionHistory", `{"events":[{"id":1,"type":"ExecutionStarted","timestamp":1},{"id":2,"type":"ExecutionSucceeded","timestamp":2}]}`, kit.ExitUsage,
			"left out: 3 jobs of executions that poll no job of the catalogue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPastService(t, 3)
				status := http.StatusOK
				if strings.Contains(test.body, "__type") {
					status = http.StatusBadRequest
				}
				s.answer = refuse(test.operation, status, test.body)
				code, _, errs := s.run(t.Context(), "--from-executions", nightlyARN)
				require.Equal(t, test.code, code, errs)
				require.Contains(t, errs, test.want)
				require.LessOrEqual(t, len(s.at[test.operation]), 40)
			})
		})
	}
}

// A service that never answered ends the command at once; one that has answered is asked
// again for some minutes.
func TestPlanWithoutAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		dead := roundTripper(func(*http.Request) (*http.Response, error) {
			calls++
			return nil, errors.New("connection reset by peer")
		})
		var out, errs bytes.Buffer
		code := runCommand(awssettings.WithClient(t.Context(), dead), []string{"plan", "--from-executions", nightlyARN}, &out, &errs)
		require.Equal(t, kit.ExitUnknown, code, errs.String())
		require.Equal(t, 1, calls)

		s := newPastService(t, 3)
		s.answer = refuse("GetExecutionHistory", http.StatusServiceUnavailable, `{"__type":"ServiceUnavailable","message":"later"}`)
		started := time.Now()
		file := filepath.Join(t.TempDir(), "past.jsonl")
		code, _, text := s.run(t.Context(), "--from-executions", nightlyARN, "--keep", file)
		require.Equal(t, kit.ExitUnknown, code)
		require.Contains(t, text, "the service does not answer now: try again later (ServiceUnavailable: later)\nRead 0 of 3 histories.")
		require.Less(t, time.Since(started), 10*time.Minute)
		require.Greater(t, len(s.at["GetExecutionHistory"]), 5)
	})
}

// roundTripper is an HTTP client.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) Do(r *http.Request) (*http.Response, error) { return f(r) }

// The jobs since a plan are those of executions that its file lacks and that started later.
func TestPlanChecksTheExecutionsSince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPastService(t, 60)
		dir := t.TempDir()
		earlier, schedule := filepath.Join(dir, "past.jsonl"), filepath.Join(dir, "schedule.json")
		code, out, errs := s.run(t.Context(), "--from-executions", nightlyARN, "--keep", earlier, "--most", "40", "--late", "10s", "-o", "schedule")
		require.Zero(t, code, errs)
		require.NoError(t, os.WriteFile(schedule, []byte(out), 0o600))
		s.runs = 85
		args := []string{"--check", "--schedule", schedule, "--earlier", earlier, "--from-executions", nightlyARN, "--endpoint-url", "http://127.0.0.1:9"}
		code, out, errs = s.run(t.Context(), args...)
		require.Equal(t, kit.ExitFailed, code, "each takes longer than any before: %s%s", out, errs)
		require.Regexp(t, `(?m)^measured +25 +7s `, out)
		require.Len(t, s.read, 25)
		require.Contains(t, out, "plan again: jobpoller plan --from-executions "+nightlyARN+" --late 10s -o schedule --endpoint-url http://127.0.0.1:9")
		code, _, errs = s.run(t.Context(), append(args, "--only", "GetOther")...)
		require.Equal(t, kit.ExitUsage, code)
		require.Contains(t, errs, "past.jsonl: it has no durations of jobs that ended")
		require.Contains(t, errs, "left out: 40 jobs of other Tasks than GetOther")
		code, out, errs = s.run(t.Context(), append(args, "--only", "GetStatus", "--most", "24")...)
		require.Equal(t, kit.ExitFailed, code, errs)
		require.Regexp(t, `(?m)^measured +24 +7s `, out)
		require.Contains(t, out, "--most 24 --late 10s -o schedule --only GetStatus --endpoint-url")
		require.Empty(t, s.at["DescribeStateMachine"])
	})
}

// An execution is never compared with itself, however the file names it; a file that names
// none leaves that to the user.
func TestPlanChecksNoExecutionTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPastService(t, 25)
		dir := t.TempDir()
		earlier, schedule := filepath.Join(dir, "past.jsonl"), clitest.WriteFile(t, "value.json", `{"delays": [600], "then": 10}`)
		code, _, errs := s.run(t.Context(), "--from-executions", nightlyARN, "--keep", earlier)
		require.Zero(t, code, errs)
		text, err := os.ReadFile(earlier)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for name, form := range map[string]string{
			"as kept": string(text), "array": "[" + strings.Join(lines, ",") + "]", "byte order mark": "\xef\xbb\xbf" + string(text), "blank line": string(text) + "\n",
		} {
			file := clitest.WriteFile(t, "form", form)
			code, out, errs := s.run(t.Context(), "--check", "--schedule", schedule, "--earlier", file, "--from-executions", nightlyARN)
			require.Equal(t, kit.ExitUnknown, code, "%s: %s", name, out)
			require.Contains(t, errs, "nightly: it has no durations of jobs that ended", name)
			require.Contains(t, errs, "jobs of executions in the file of --earlier", name)
			require.Empty(t, s.read, name)
		}
		var table strings.Builder
		for n := range 25 {
			fmt.Fprintf(&table, "%d\n", 600+n)
		}
		code, out, errs := s.run(t.Context(), "--check", "--schedule", schedule, "--earlier", clitest.WriteFile(t, "past.csv", table.String()), "--from-executions", nightlyARN)
		require.Zero(t, code, "%s%s", out, errs)
		require.Regexp(t, `(?m)^measured +25 +7s `, out)
		require.Contains(t, oneLine(out), "past.csv has no ARNs of executions: a job that is also one of nightly counts twice. Pass the file of --keep as --earlier")
	})
}

// Flags that contradict each other are refused before any call.
func TestPlanSourceFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--from-executions nightly":                                                      `--from-executions: expected the ARN of a state machine, such as arn:aws:states:us-east-1:123456789012:stateMachine:NAME, found "nightly"`,
		"--from-executions " + nightlyARN + " --duration 5m":                             "one of --duration",
		"--from-executions " + nightlyARN + " --region us-east-1":                        "--region us-east-1 contradicts the ARN of --from-executions, which is of eu-west-1: leave --region out",
		"--from-executions " + nightlyARN + " --most 0":                                  "--most must be from 1 to 100000, is 0",
		"--from-executions " + nightlyARN + " --endpoint-url soon":                       "--endpoint-url",
		"--from-executions " + nightlyARN + "#Case":                                      "has no name that a state machine can have",
		"--duration constant(5m) --keep x":                                               "--keep needs --from-executions",
		"--duration constant(5m) --profile x":                                            "--profile and --endpoint-url need --from-executions",
		"--from-executions arn:aws:states:eu-west-1:111111111111:express:a:b:c":          "keeps no history of it. Pass the file of its log",
		"--check --schedule a --earlier b --from-executions " + nightlyARN + " --keep b": "--keep would replace the input b",
	} {
		s := newPastService(t, 3)
		code, _, errs := s.run(t.Context(), strings.Fields(args)...)
		require.Equal(t, kit.ExitUsage, code, args)
		require.Contains(t, errs, want, args)
		require.Empty(t, s.at, args)
	}
}

// A terminal shows how far the reading is, and how long it takes still.
func TestPlanShowsItsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		screen := &terminaltest.Screen{T: t}
		s := newPastService(t, 800)
		s.started = time.Now()
		shown := map[string]bool{}
		s.answer = func(string, map[string]any) (int, string) {
			for line := range strings.Lines(screen.String()) {
				if strings.Contains(line, "READING") {
					shown[strings.TrimSpace(line)] = true
				}
			}
			return 0, ""
		}
		var out bytes.Buffer
		code := runCommand(awssettings.WithClient(t.Context(), s), []string{"plan", "--from-executions", nightlyARN}, &out, screen)
		require.Zero(t, code, screen.String())
		for line := range shown {
			var elapsed, done, left int
			if n, err := fmt.Sscanf(line, "READING %ds %d of 800 histories, %ds left", &elapsed, &done, &left); err != nil {
				require.Less(t, n, 3, line) // the list, or the last second
				continue
			}
			require.InDelta(t, 200+10*elapsed, done, 15, line)
			require.InDelta(t, 60-elapsed, left, 2, line)
		}
		require.Greater(t, len(shown), 10)
		require.NotContains(t, screen.String(), "READING", "the line is taken away")
	})
}

// Without a terminal a line tells why nothing comes, once for each error.
func TestPlanShowsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPastService(t, 1)
		s.answer = func(operation string, _ map[string]any) (int, string) {
			switch n := len(s.at[operation]); {
			case operation == "DescribeStateMachine" && n < 3:
				return http.StatusInternalServerError, `{"__type":"InternalFailure"}`
			case operation == "ListExecutions" && n < 3:
				return http.StatusBadRequest, `{"__type":"ThrottlingException","message":"Rate exceeded"}`
			case operation == "GetExecutionHistory" && n < 3:
				return http.StatusServiceUnavailable, `{"__type":"ServiceUnavailable"}`
			}
			return 0, ""
		}
		code, _, stderr := s.run(t.Context(), "--from-executions", nightlyARN)
		require.Zero(t, code, stderr)
		lines := slices.Collect(strings.Lines(regexp.MustCompile(`READING +\d+s`).ReplaceAllString(stderr, "READING")))
		require.Equal(t, []string{
			"READING  the state machine  last answer: InternalFailure\n",
			"READING  the list of executions  last answer: ThrottlingException\n",
			"READING  0 of 1 history  last answer: ServiceUnavailable\n",
		}, lines)
	})
}
