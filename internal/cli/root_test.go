package cli

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// walk calls f with every command of the program.
func walk(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, below := range c.Commands() {
		walk(below, f)
	}
}

// A time has one form in all flags, and max wait one name.
func TestFlagsOfTimes(t *testing.T) {
	t.Parallel()
	withMaxWait := map[string]bool{}
	walk(newRootCommand(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			require.NotContains(t, []string{"timeout", "interval", "total"}, f.Name, c.Name())
			if f.Name == "max-wait" {
				withMaxWait[c.Name()] = true
			}
			if f.Value.Type() != "duration" {
				return
			}
			for text, want := range map[string]time.Duration{"2h": 2 * time.Hour, "90s": 90 * time.Second, "300": 5 * time.Minute, "1h30m": 90 * time.Minute, "10d": 240 * time.Hour, "1d12h": 36 * time.Hour} {
				require.NoError(t, f.Value.Set(text))
				got, err := time.ParseDuration(f.Value.String())
				require.NoError(t, err)
				require.Equal(t, want, got, text)
			}
			for _, text := range []string{"", "soon", "5 m", "1e3", "9223372036855", "0x10"} {
				require.ErrorContains(t, f.Value.Set(text), "expected a time such as 90s, 2h, 10d", text)
			}
		})
	})
	require.Equal(t, map[string]bool{"demo": true, "run": true, "wait": true, "start": true, "compile": true, "fix": true}, withMaxWait)
}

// Each value of a flag that is not a file completes to words or to nothing.
func TestFlagsDoNotCompleteToFiles(t *testing.T) {
	t.Parallel()
	files := map[string]bool{
		"input": true, "mocks": true, "write-mocks": true, "html": true, "history": true, "data": true, "check": true, "waiter": true, "response": true,
		"baseline": true, "definition": true, "mock-config": true, "watch": true, "durations": true, "schedule": true, "earlier": true,
		"keep": true, "task": true,
	}
	walk(newRootCommand(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" || files[f.Name] || c.Name() == "init" && f.Name == "output" {
				return
			}
			_, ok := c.GetFlagCompletionFunc(f.Name)
			require.True(t, ok, "%s --%s", c.Name(), f.Name)
		})
	})
}

// Every command has a line in the help, a long text, and an example of itself.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	for _, c := range newRootCommand().Commands() {
		if c.Name() == "help" || c.Hidden || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		require.NotEmpty(t, c.Short, c.Name())
		require.Contains(t, c.Example, "jobpoller "+c.Name())
		for line := range strings.Lines(c.Long) {
			if !strings.HasPrefix(line, "  ") { // a row of a table
				require.LessOrEqual(t, len(line), 86, "%s: %s", c.Name(), line)
			}
		}
		var asked, helped bytes.Buffer
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{c.Name(), "--help"}, &asked, &asked))
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{"help", c.Name()}, &helped, &helped))
		require.Equal(t, asked.String(), helped.String())
		_, flags, found := strings.Cut(asked.String(), "\nFlags:\n")
		require.True(t, found, c.Name())
		for line := range strings.Lines(flags) {
			require.LessOrEqual(t, len(line), kit.HelpWidth+1, "%s: %s", c.Name(), line)
		}
	}
}

// A help has each flag once, in the group of its kind, and its placeholder once.
func TestFlagsAreGroupedInHelp(t *testing.T) {
	t.Parallel()
	walk(newRootCommand(), func(c *cobra.Command) {
		help := c.UsageString()
		require.Equal(t, c.Flags().Lookup("replace") != nil, strings.Contains(help, "\n"+kit.WithReplace+":\n"), c.CommandPath())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flag := regexp.MustCompile(`(?m)^ {2}(?:-\w, |    )--` + f.Name + `(?: (\S+))?(?:   .*(?:\n {12}.*)*)?$`)
			found := flag.FindAllStringSubmatch(help, -1)
			if f.Hidden {
				require.Empty(t, found, "%s --%s", c.CommandPath(), f.Name)
				return
			}
			require.Len(t, found, 1, "%s --%s:\n%s", c.CommandPath(), f.Name, help)
			if value := found[0][1]; value != "" && strings.ToUpper(value) == value {
				require.Len(t, regexp.MustCompile(`(?:^|\s)`+regexp.QuoteMeta(value)+`(?:\s|$)`).FindAllString(found[0][0], -1), 1, found[0][0])
			}
		})
	})
	for flag, title := range map[string]string{
		"mocks": "What answers the Tasks", "bucket": "Start records", "html": "Output", "region": "AWS", "virtual": "How it runs", "input": "Input",
	} {
		run, _, err := newRootCommand().Find([]string{"run"})
		require.NoError(t, err)
		_, group, found := strings.Cut(run.UsageString(), "\n\n"+title+":\n")
		require.True(t, found, title)
		group, _, _ = strings.Cut(group, "\n\n")
		require.Contains(t, group, " --"+flag+" ")
	}
	graph, _, err := newRootCommand().Find([]string{"graph"})
	require.NoError(t, err)
	_, output, _ := strings.Cut(graph.UsageString(), "Output:\n")
	require.NotContains(t, output, "--history", "it reads that file")
}

// A topic is explained by help and by its name, and named where help is given.
func TestHelpTopics(t *testing.T) {
	t.Parallel()
	for _, topic := range helpTopics() {
		var helped, named, all bytes.Buffer
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{"help", topic.Name()}, &helped, &helped))
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{topic.Name()}, &named, &named))
		require.Equal(t, helped.String(), named.String())
		for line := range strings.Lines(helped.String()) {
			require.LessOrEqual(t, len(line), 100, line)
		}
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{"help"}, &all, &all))
		require.Contains(t, all.String(), topic.Short)
	}
	var strategies bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{"help", "strategies"}, &strategies, &strategies))
	for _, s := range compile.Strategies() {
		require.Contains(t, strategies.String(), s.Summary())
	}
	var refused bytes.Buffer
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"help", "strategie"}, &refused, &refused))
	require.Contains(t, refused.String(), `there is no command or topic "strategie" (did you mean "strategies"?)`)
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"help", "records", "lst"}, &refused, &refused))
	require.Contains(t, refused.String(), `there is no command "lst" (did you mean "list"?)`)
}

// Output that could not be written is no success.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"help"}, {"list", "glue"}, {"report", "testdata/screens/history.json"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			require.Equal(t, kit.ExitFailed, runCommand(t.Context(), args, clitest.FullDisk{}, &stderr))
			require.Regexp(t, "^jobpoller: .*no space left on device\n$", stderr.String())
		})
	}
}

// Without credentials nothing can be reached.
func TestWithoutCredentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	for _, args := range [][]string{
		{"wait", "eks", "ClusterActive", "c"},
		{"start", "glue", "StartJobRun", "--param", "JobName=n"},
		{"records", "doctor", "--bucket", "records"},
		{"records", "list", "--bucket", "records"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, kit.ExitUnknown, runCommand(t.Context(), append(args, "--region", "eu-west-1"), &stdout, &stderr))
		require.Contains(t, stderr.String(), "jobpoller: no AWS credentials: pass --profile")
	}
}

func TestDescribeBuild(t *testing.T) {
	t.Parallel()
	tail := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	require.Equal(t, "v1.2.3"+tail, describeBuild("v1.2.3", nil))
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-11-20T10:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	require.Equal(t, "(devel) commit 0123456789ab with changes 2026-11-20T10:00:00Z"+tail, describeBuild("(devel)", info))
}

// Help fits a terminal of 100 columns.
func TestHelpIsNarrow(t *testing.T) {
	t.Parallel()
	walk(newRootCommand(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Long) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSuffix(line, "\n")), 100, "%s: %s", c.CommandPath(), line)
		}
	})
}

// The help says how many waiters and jobs jobpoller knows.
func TestHelpCountsEntries(t *testing.T) {
	t.Parallel()
	count := 0
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, s := range services {
		count += len(s.Entries)
	}
	require.Contains(t, newRootCommand().Long, fmt.Sprintf("when %d AWS\njobs and resources are done", count))
}
