package localrun

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// summary is the result of a run for people: how it ended, then rows of a word and
// its value.
type summary struct{ strings.Builder }

func newSummary(c terminal.Colours, status string, elapsed time.Duration, virtual bool) *summary {
	s := &summary{}
	clock := ""
	if virtual {
		clock = " of virtual time"
	}
	terminal.Fprintf(s, "%s after %s%s\n", c.Paint(kit.StyleOf(status), status), elapsed, clock)
	return s
}

func (s *summary) row(name, format string, args ...any) {
	terminal.Fprintf(s, "  %-13s %s\n", name, fmt.Sprintf(format, args...))
}

// end writes the states at which a run ended, an error and an output, as far as there are.
func (s *summary) end(at []string, name, cause string, output json.RawMessage) {
	for _, state := range at {
		s.row("at", "%s", state)
	}
	if name != "" {
		s.row("error", "%s", name)
	}
	if cause != "" {
		s.row("cause", "%s", cause)
	}
	if len(output) > 0 {
		s.row("output", "%s", output)
	}
}

// history writes the statuses that the job had, if they changed.
func (s *summary) history(h kit.StatusHistory) {
	if text := h.Text(); text != "" {
		s.row("statuses", "%s", text)
	}
}

// use writes what AWS bills and limits. Express workflows are billed by their requests and time, and have no limit of events.
func (s *summary) use(transitions int, usd float64, events int, express bool) {
	if express {
		s.row("cost", "%s, which cost nothing: an Express workflow is billed by its requests and time", kit.Plural(transitions, "transition"))
		s.row("events", "%d", events)
		return
	}
	s.row("cost", "%s, $%.6f as a Standard workflow in %s", kit.Plural(transitions, "transition"), usd, asl.DefaultRegion)
	s.row("events", "%d of %d", events, asl.MaxEvents)
}
