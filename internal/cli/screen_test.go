package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/terminal/terminaltest"
)

// screenCase is a command whose screens are kept.
type screenCase struct {
	name string
	args []string
	// at are the moments at which people look, besides the end.
	at []time.Duration
	// answers are those of the service that the command calls.
	answers string
}

// answering answers requests without a network, and the last answer for good.
type answering struct {
	mu      sync.Mutex
	answers []string
}

func (a *answering) Do(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body := a.answers[0]
	if len(a.answers) > 1 {
		a.answers = a.answers[1:]
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

var screenCases = []screenCase{
	{name: "run", args: []string{"run", "testdata/screens/query.asl.json", "--simulate", "3m", "--ends", "FAILED"}, at: []time.Duration{5 * time.Second, 151 * time.Second}},
	{
		name: "wait", at: []time.Duration{5 * time.Second, 65 * time.Second},
		args: []string{"wait", "athena", "StartQueryExecution", "q-1", "--max-wait", "30m", "--delay", "20s", "--region", "eu-west-1"},
		answers: `{"QueryExecution": {"Status": {"State": "QUEUED", "StateChangeReason": "12 queries before"}}}
{"QueryExecution": {"Status": {"State": "QUEUED", "StateChangeReason": "3 queries before, and this text is too long for the width of the terminal"}}}
{"QueryExecution": {"Status": {"State": "RUNNING"}}}
{"QueryExecution": {"Status": {"State": "RUNNING"}}}
{"QueryExecution": {"Status": {"State": "CANCELLED", "StateChangeReason": "cancelled by user"}}}`,
	},
	{name: "lint", args: []string{"lint", "testdata/screens/query.asl.json"}},
	{name: "report", args: []string{"report", "testdata/screens/history.json", "--definition", "testdata/screens/query.asl.json"}},
	{name: "plan", args: []string{"plan", "testdata/screens/query.asl.json", "--duration", "uniform(15m, 30m)"}},
	{name: "plancheck", args: []string{
		"plan", "--check", "--schedule", "testdata/screens/schedule.json", "--duration", "lognormal(15m, 0.5)", "--durations", "testdata/screens/durations.txt",
	}},
}

// What people see of a command: on a terminal of 80 by 24, with NO_COLOR, and through
// a pipe. The time is virtual.
func TestScreens(t *testing.T) {
	for _, name := range []string{"CLICOLOR", "CLICOLOR_FORCE"} {
		t.Setenv(name, "")
	}
	for _, c := range screenCases {
		t.Run(c.name, func(t *testing.T) {
			var all strings.Builder
			for _, noColor := range []string{"", "1"} {
				t.Setenv("NO_COLOR", noColor)
				title := "terminal"
				if noColor != "" {
					title += " with NO_COLOR"
				}
				synctest.Test(t, func(t *testing.T) { c.look(t, title, &all) })
			}
			synctest.Test(t, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				code := c.run(t, &stdout, &stderr)
				fmt.Fprintf(&all, "== pipe, exit code %d\n-- stdout\n%s-- stderr\n%s", code, &stdout, &stderr)
			})
			file := filepath.Join("testdata", "screens", c.name+".txt")
			if *clitest.Update {
				require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), all.String())
		})
	}
}

// look writes what a terminal shows at each moment and in the end.
func (c screenCase) look(t *testing.T, title string, to io.Writer) {
	t.Helper()
	screen := &terminaltest.Screen{T: t}
	var looks sync.WaitGroup
	shots := make([]string, len(c.at))
	for i, at := range c.at {
		looks.Go(func() {
			<-time.After(at + time.Millisecond) // of virtual time
			shots[i] = screen.String()
		})
	}
	code := c.run(t, screen, screen)
	looks.Wait()
	for i, at := range c.at {
		fmt.Fprintf(to, "== %s, after %s\n%s", title, at, shots[i])
	}
	fmt.Fprintf(to, "== %s, exit code %d\n%s", title, code, screen)
}

func (c screenCase) run(t *testing.T, stdout, stderr io.Writer) int {
	t.Helper()
	client := &answering{answers: strings.Split(c.answers, "\n")}
	return runCommand(awssettings.WithClient(t.Context(), client), c.args, stdout, stderr)
}
