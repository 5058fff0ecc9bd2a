package kit

import (
	"fmt"
	"io"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	htmlreport "github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Views are what a run shows and writes besides its result.
type Views struct {
	Trace   bool
	HTML    string
	History string
	Said    map[string]lint.Meaning // what statuses mean that the catalogue does not know
}

// Event shows an event as it happens.
func (v Views) Event(stderr io.Writer, start time.Time, e sim.Event) {
	terminal.Fprintf(stderr, "%s\n", e.Trace(start))
}

// Write writes the files.
func (v Views) Write(m *asl.StateMachine, r *sim.Result) error {
	if v.History != "" {
		text := sim.AppendHistory(nil, r.Events, sim.EventFormat{Indent: "  "})
		if err := WriteFile("history", v.History, append(text, '\n')); err != nil {
			return err
		}
	}
	if v.HTML != "" {
		page, err := htmlreport.HTML(history.FromRun(m, r), htmlreport.Options{Said: v.Said})
		if err != nil {
			return WithCode(ExitFailed, fmt.Errorf("--html: %w", err))
		}
		return WriteFile("html", v.HTML, page)
	}
	return nil
}
