package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	htmlreport "github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// views are what a run shows and writes besides its result.
type views struct {
	trace   bool
	html    string
	history string
}

// event shows an event as it happens.
func (v views) event(stderr io.Writer, start time.Time, e sim.Event) {
	terminal.Fprintf(stderr, "%s\n", e.Trace(start))
}

// write writes the files.
func (v views) write(m *asl.StateMachine, r *sim.Result) error {
	if v.history != "" {
		text := sim.AppendHistory(nil, r.Events, sim.EventFormat{Indent: "  "})
		if err := writeFile("history", v.history, append(text, '\n')); err != nil {
			return err
		}
	}
	if v.html != "" {
		page, err := htmlreport.HTML(history.FromRun(m, r))
		if err != nil {
			return withCode(exitFailed, fmt.Errorf("--html: %w", err))
		}
		return writeFile("html", v.html, page)
	}
	return nil
}
