package tests_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/race"
)

// home is where a fact is stated, once, and how code that states it looks.
type home struct {
	fact    string
	pattern string // of a line of code without its comments
	home    string // the package, or a file of data
	// also are packages that state it too, each with the reason.
	also map[string]string
}

const (
	noMachines = "the functions link no state machines"
	testKit    = "a kit for tests shows what a service answers"
)

// homes are the homes of docs/design.md: every other package reads the fact there.
var homes = []home{
	{fact: "the events of a history", pattern: `\b25_?000\b`, home: "statemachines/asl"},
	{
		fact: "the size of a payload", pattern: `\b262_?144\b|\b256 ?(\*|<<) ?10(24)?\b`, home: "statemachines/asl",
		also: map[string]string{"lambdas/jobs": noMachines, "pollcore/startrecord/startrecordtest": "a record of that size"},
	},
	{
		fact: "how a time is written", pattern: `\btime\.ParseDuration\(`, home: "internal/timespan",
		also: map[string]string{"statemachines/simtest": "seconds of a recording"},
	},
	{fact: "the characters of a cause", pattern: `\b32_?768\b`, home: "statemachines/asl"},
	{fact: "the largest number of seconds", pattern: `\b99_999_999\b|[^_\d]99999999\b`, home: "statemachines/asl"},
	{fact: "the largest delay of a retry", pattern: `\b31_?622_?40[01]\b`, home: "statemachines/asl"},
	{fact: "the bytes of all variables", pattern: `\bMaxVariableBytes += `, home: "statemachines/asl"},
	{
		fact: "how long an execution lasts", pattern: `\b365 ?\* ?(24 ?\* ?time\.Hour|day)`, home: "statemachines/asl",
		also: map[string]string{"lambdas/handler": noMachines, "pollcore/plan": noMachines},
	},
	{
		fact: "how long an execution can be redriven", pattern: `\b14 ?\* ?(24 ?\* ?time\.Hour|day)`, home: "statemachines/asl",
		also: map[string]string{"lambdas/handler": noMachines},
	},
	{
		fact: "which codes of errors pass", pattern: `(?i)"(throttl|(throttl(ed|ing)|toomanyrequest|slowdown|requestlimitexceeded)\w*)"`, home: "pollcore/awserror",
		also: map[string]string{"lambdas/jobs/jobstest": testKit, "statemachines/sim/mock": "mocks answer as services do", "statemachines/server/throttle": "it answers as AWS does", "internal/catalogimport": "a member of the data"},
	},
	{
		fact: "which statuses pass", pattern: `\bStatusTooManyRequests\b|\bStatusTooEarly\b|\btooEarly\b`, home: "pollcore/awserror",
		also: map[string]string{"lambdas/jobs/jobstest": testKit},
	},
	{
		fact: "the errors of requests and functions", pattern: `"(States\.Http\.(StatusCode|Socket)|ApiGateway\.|EKS\.|Lambda\.(ServiceException|SdkClientException))`,
		home: "statemachines/asl", also: map[string]string{"pollcore/awserror": "it says what an error of that name means"},
	},
	{fact: "which codes refuse credentials", pattern: `(?i)"(expiredtoken|unrecognizedclient|invalidclienttokenid|authfailure)\w*"`, home: "pollcore/awserror"},
	{fact: "where a template has its definition", pattern: `"Definition(String|Uri|S3Location|Substitutions)"`, home: "statemachines/source"},
	{fact: "the price of a transition", pattern: `\b0\.025\b|\b0\.000025\b`, home: "statemachines/asl"},
	{
		fact: "the codes of throttling", pattern: `"(?i:ThrottlingException|RequestLimitExceeded|TooManyRequestsException)"`, home: "pollcore/awserror",
		also: map[string]string{
			"lambdas/jobs/jobstest": testKit, "statemachines/sim/mock": testKit, "statemachines/server/throttle": "it answers as AWS does",
		},
	},
	{
		fact: "the question what was meant", pattern: `did you mean`, home: "internal/nearest",
		also: map[string]string{"lambdas/jobs/jobstest": "it wants the question of drivers"},
	},
	{fact: "how near words are", pattern: `func (Word|distance|levenshtein)\(|type distances\b`, home: "internal/nearest"},
	{fact: "the name in a shape ID", pattern: `LastIndexByte\(.*'#'\)`, home: "internal/smithy"},
	{fact: "Step Functions' spelling of members", pattern: `func (pascal|snake|MemberName|ExceptionName)\(`, home: "internal/javasdk"},
	{fact: "the loops in a sequence", pattern: `func (Loops|loopAt)\[`, home: "internal/fold"},
	{
		fact: "the strategies", pattern: `\bStrategy = "|(==|!=|case) ?compile\.(Loop|Variables|RetryTask|LambdaLoop|LambdaRetry|LambdaEvents)\b`, home: "statemachines/compile",
	},
	{
		fact: "what the calls of a job are allowed by", pattern: `"(athena|batch|codebuild|databrew|ecs|emr\w*|glue|rds|redshift-data|sagemaker|states|transcribe):[A-Z]\w+"`,
		home: "pollcore/catalog/sources/jobs.json",
		also: map[string]string{
			"lambdas/jobs/awsjob": "names of the jobs that each function has", "cdkapp": "names of jobs in messages, and the right to start the machine",
		},
	},
	{fact: "the size of a DynamoDB item", pattern: `\b400 ?(<<|\*) ?10(24)?\b`, home: "pollcore/startrecord/dynamostore/internal/table"},
	{
		fact: "the length of an S3 key", pattern: `\bmaxKey += 1024\b`, home: "pollcore/startrecord/s3store",
		also: map[string]string{"internal/embeddeds3": "it is an S3 itself, below the store"},
	},
	{fact: "the size of a Lambda event", pattern: `\b6 ?<< ?20\b`, home: "internal/runtimeapi"},
	{
		fact: "the names of the functions' variables", pattern: `"JOBPOLLER_[A-Z]`, home: "lambdas/handler",
		also: map[string]string{"internal/cli/serve": "that of serve, which no function reads", "lambdas/jobs/httpjob": "variables of that driver", "cdkapp": "an app links no functions, and TestFunctionsUnderstandTheirEnvironment holds them equal"},
	},
	{fact: "how long a service remembers a token", pattern: `\bWindow: +([0-9]|time\.)|j\.TokenWindow\) \* time\.Second`, home: "pollcore/catalog"},
}

// code returns the lines of a Go file without its comments.
func code(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		position, kind, literal := s.Scan()
		if kind == token.EOF {
			return strings.Split(string(text), "\n")
		}
		if kind != token.COMMENT {
			continue
		}
		at := file.Offset(position)
		for i := at; i < at+len(literal); i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
}

// sources are the lines of code of the module's packages, by file, without those
// of tests and of programs for tests.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel("..", path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{"testdata", "node_modules"}, entry.Name()) || name == "tests" || len(name) > 1 && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			all[filepath.ToSlash(name)] = code(t, path)
		}
		return nil
	}))
	return all
}

// strays returns the lines that state the fact in another package than its home.
// found is whether the home states it.
func (h home) strays(files map[string][]string) (found bool, strays []string) {
	pattern, anywhere := regexp.MustCompile(h.pattern), regexp.MustCompile("(?m)"+h.pattern)
	for name, lines := range files {
		if !anywhere.MatchString(strings.Join(lines, "\n")) {
			continue // what no line has, at the price of one search
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		for i, line := range lines {
			switch {
			case !pattern.MatchString(line):
			case folder == h.home:
				found = true
			case h.also[folder] == "":
				strays = append(strays, fmt.Sprintf("%s:%d: %s", name, i+1, strings.TrimSpace(line)))
			}
		}
	}
	slices.Sort(strays)
	return found, strays
}

// Each fact has one home: a package that needs it reads it there.
func TestEveryFactHasOneHome(t *testing.T) {
	t.Parallel()
	files := sources(t)
	require.Greater(t, len(files), 300)
	for _, h := range race.OneIn(12, homes) {
		t.Run(h.fact, func(t *testing.T) {
			t.Parallel()
			found, strays := h.strays(files)
			if filepath.Ext(h.home) != "" {
				text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(h.home)))
				require.NoError(t, err)
				found = regexp.MustCompile(h.pattern).Match(text)
			}
			require.True(t, found, "%s no longer states it: correct the pattern or the home", h.home)
			require.Empty(t, strays, "%s is the home of %s: read it there", h.home, h.fact)
			for folder := range h.also {
				_, alone := home{pattern: h.pattern, home: h.home}.strays(files)
				require.True(t, slices.ContainsFunc(alone, func(line string) bool {
					return filepath.ToSlash(filepath.Dir(line[:strings.IndexByte(line, ':')])) == folder
				}),
					"%s no longer states it: remove the exception", folder)
			}
		})
	}
}

// The check finds a second home, and none in a comment.
func TestASecondHomeIsFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "second.go")
	require.NoError(t, os.WriteFile(path, []byte("package second\n\n// 25,000, or 25_000\nconst most = /* 25_000 */ 25_000 // 25_000\n"), 0o600))
	lines := code(t, path)
	found, strays := homes[0].strays(map[string][]string{"statemachines/asl/limits.go": lines, "cdkapp/second.go": lines})
	require.True(t, found)
	require.Len(t, strays, 1)
	require.Contains(t, strays[0], "cdkapp/second.go:4: const most = ")
	found, strays = homes[0].strays(map[string][]string{"cdkapp/second.go": lines[:3]})
	require.False(t, found)
	require.Empty(t, strays)
}
