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
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// testScreen is a terminal of 80 columns and 24 rows that obeys what the command
// draws with: line ends, carriage returns, the end of a line that is erased, and
// colours, which it shows as their names.
type testScreen struct {
	t *testing.T

	mu     sync.Mutex
	rows   [][]string // cells
	column int
	style  string
}

const (
	screenColumns = 80
	screenRows    = 24
)

var styleNames = map[terminal.Style]string{
	"0": "", terminal.Good: "green", terminal.Bad: "red", terminal.Caution: "yellow", terminal.Active: "cyan", terminal.Strong: "bold", terminal.Faint: "faint",
}

func (*testScreen) Columns() int { return screenColumns }

func (s *testScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		s.newLine()
	}
	for text := string(p); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			text = s.obey(rest)
			continue
		}
		r := []rune(text)[0]
		text = strings.TrimPrefix(text, string(r))
		switch r {
		case '\n':
			s.newLine()
		case '\r':
			s.column = 0
		default:
			s.put(string(r))
		}
	}
	return len(p), nil
}

// String is what the screen shows: its last rows.
func (s *testScreen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, row := range s.rows[max(0, len(s.rows)-screenRows):] {
		line := strings.Join(row, "")
		for _, name := range styleNames { // neighbours of one style
			line = strings.ReplaceAll(line, "}{"+name+" ", "")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// obey does what a control sequence says, and returns what is behind it.
func (s *testScreen) obey(text string) string {
	end := strings.IndexAny(text, "mK")
	if end < 0 {
		s.t.Errorf("a control sequence without an end: %q", text)
		return ""
	}
	switch parameter := text[:end]; text[end] {
	case 'K':
		s.rows[len(s.rows)-1] = s.rows[len(s.rows)-1][:s.column]
	case 'm':
		name, ok := styleNames[terminal.Style(parameter)]
		if !ok {
			s.t.Errorf("unknown style %q", parameter)
		}
		s.style = name
	}
	return text[end+1:]
}

func (s *testScreen) newLine() {
	s.rows, s.column = append(s.rows, nil), 0
}

// put writes a character, in the next row where this one is full.
func (s *testScreen) put(text string) {
	if s.column == screenColumns {
		s.newLine()
	}
	if s.style != "" {
		text = "{" + s.style + " " + text + "}"
	}
	row := s.rows[len(s.rows)-1]
	if s.column == len(row) {
		row = append(row, "")
	}
	row[s.column] = text
	s.rows[len(s.rows)-1] = row
	s.column++
}

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
			if *update {
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
	screen := &testScreen{t: t}
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

// A live line never wraps, and leaves nothing behind.
func TestScreenHasOneLiveLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		screen := &testScreen{t: t}
		known := make(chan struct{})
		l := newLive(terminal.NewWriter(screen), false, func() standing {
			select {
			case <-known:
			default:
				return standing{} // nothing yet
			}
			return standing{status: "RUNNING", polls: 1, seen: strings.Repeat("界", screenColumns)}
		})
		<-time.After(2 * refresh) // of virtual time
		require.Empty(t, screen.rows)
		close(known)
		<-time.After(2 * refresh) // of virtual time
		require.Equal(t, 1, strings.Count(screen.String(), "\n"), screen)
		l.above(func(out io.Writer) { terminal.Fprintf(out, "a line\n") })
		<-time.After(2 * refresh) // of virtual time
		require.True(t, strings.HasPrefix(screen.String(), "a line\nRUNNING 0s  poll 1: 界"), screen)
		l.close()
		require.Equal(t, "a line\n", screen.String())
	})
}
