package fix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// tableOf is the table of the loop of a Task.
func tableOf(m *asl.StateMachine, poll string) string {
	for _, l := range lint.Loops(m, lint.Options{}) {
		if l.Poll != nil && l.Poll.Name == poll {
			return l.String()
		}
	}
	return ""
}

// newTable is the table of a new loop. One behind a ".sync" Task polls only where that ends
// too early, so lint reads no loop there. Where lint cannot follow what a waiter computes, such as
// whether all jobs have a status, the trial of the loop says where each status leads.
func newTable(m *asl.StateMachine, l fix.Loop) string {
	if l.Strategy.Waits() {
		return fmt.Sprintf("%s   polls %s once, when a .sync Task says that the job has ended\n", l.Poll, l.Operation) + routesTable(l, "")
	}
	for _, found := range lint.Loops(m, lint.Options{}) {
		if found.Poll == nil || found.Poll.Name != l.Poll {
			continue
		}
		if found.Unjudged == "" {
			return found.String()
		}
		found.Unjudged = ""
		heading, rest, _ := strings.Cut(found.String(), "\n")
		wait := ""
		if len(found.Waits) > 0 {
			wait = found.Waits[0].Name
		}
		return heading + "\n" + routesTable(l, wait) + rest
	}
	return ""
}

// routesTable is where each status leads in a new loop, those that mean the same and lead the same way on one
// line. wait is the state that it polls on by; empty if that is not known.
func routesTable(l fix.Loop, wait string) string {
	var rows [][3]string
	for _, r := range l.Routes {
		row := [3]string{r.Status, cmp.Or(r.After, wait, "the next poll"), meaningOf(r)}
		if i := slices.IndexFunc(rows, func(other [3]string) bool { return other[1] == row[1] && other[2] == row[2] }); i >= 0 {
			rows[i][0] += ", " + r.Status
			continue
		}
		rows = append(rows, row)
	}
	return lint.Table(rows)
}

// meaningOf says what a status means, and where the new loop leads it, if that is not plain.
func meaningOf(r fix.Route) string {
	switch {
	case r.Meaning == lint.MeansEnding && r.After != "":
		return "ending, fails"
	case r.Meaning == lint.MeansUnknown:
		return "polls on"
	default:
		return string(r.Meaning)
	}
}

// trialTable compares two loops on jobs, by how long these last.
func trialTable(trials []fix.Trial, jobs []time.Duration) string {
	var b strings.Builder
	if len(jobs) == 1 {
		terminal.Fprintf(&b, "on a job of %s:\n", kit.ShortDuration(jobs[0]))
	} else {
		texts := make([]string, len(jobs))
		for i, runs := range jobs {
			texts[i] = kit.ShortDuration(runs.Round(time.Second))
		}
		terminal.Fprintf(&b, "means of %d jobs, of %s:\n", len(jobs), strings.Join(texts, ", "))
	}
	rows := [][]string{{"", "ends after", "late", "calls", "transitions", "cost", "leads to"}}
	for _, t := range trials {
		rows = append(rows, trialRow(t.Status+" before", t.Before), trialRow("after", t.After))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			switch i {
			case 0:
				if cell == "after" {
					b.WriteString("  " + space + cell)
				} else {
					b.WriteString("  " + cell + space)
				}
			case len(row) - 1:
				b.WriteString("  " + cell)
			default:
				b.WriteString("  " + space + cell)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func trialRow(name string, m fix.Measure) []string {
	late, exit := "-", "nowhere"
	switch {
	case m.Exit != "":
		late, exit = kit.ShortDuration(m.Late.Round(time.Second)), m.Exit
	case m.Error != "":
		exit += ": " + m.Error
	}
	cost := "-" // of Express, by time
	if m.USD > 0 {
		cost = fmt.Sprintf("$%.4f", m.USD)
	}
	return []string{
		name, kit.ShortDuration(m.Lasts.Round(time.Second)), late,
		fmt.Sprintf("%.0f", m.Calls), fmt.Sprintf("%.0f", m.Transitions), cost, exit,
	}
}

// nameOf names a kind of answers of the poll, or of another Task.
func nameOf(k trial.Kind, poll string) string {
	switch stays := k.Sort == trial.Never; {
	case stays && k.Pattern != "":
		return "a job that stays in a status like " + k.Pattern
	case k.Pattern != "":
		return "other statuses like " + k.Pattern
	case stays && k.Value == trial.UnknownValue:
		return "a job that stays in any other status"
	case stays:
		return "a job that stays " + k.Value
	case k.Sort == trial.Fails && k.Task != poll:
		return fmt.Sprintf("%s of %q", k.Value, k.Task)
	case k.Value == "":
		return "no status"
	case k.Value == trial.UnknownValue:
		return "any other status"
	default:
		return k.Value
	}
}

// wrapChanges adds what an execution does otherwise, answers with the same change in one row.
func (w *wrapper) wrapChanges(l fix.Loop) {
	tried := fmt.Sprintf("tried on %s of both machines with the same answers", kit.Plural(l.Runs, "run"))
	if len(l.Changes) == 0 && len(l.Besides) == 0 {
		w.wrap("%s: all end as before", tried)
		w.wrapNotTried(l.NotTried)
		w.text.WriteString("\n")
		return
	}
	w.wrap("%s. What changes:", tried)
	var order []string
	answers := map[string][]string{}
	for _, change := range l.Changes {
		name := nameOf(change.Kind, l.Poll)
		if change.Kind.Sort == trial.Fails && change.After == "succeeds" {
			change.After = "is retried"
		}
		does := strings.TrimSuffix(change.Before, " "+name) + " -> " + strings.TrimSuffix(change.After, " "+name)
		if change.Bare {
			does = ", in answers without optional members: " + does
		} else {
			does = ": " + does
		}
		if answers[does] == nil {
			order = append(order, does)
		}
		answers[does] = append(answers[does], name)
	}
	for _, does := range order {
		w.wrap("  %s%s", strings.Join(answers[does], ", "), does)
	}
	for _, more := range l.Besides {
		w.wrap("  %s", more)
	}
	w.wrapNotTried(l.NotTried)
	w.text.WriteString("\n")
}
