package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// keptExecution is what plan learned of an execution: a line of the file of --keep. Its
// JSON members are a contract: see docs/reference/json.md.
type keptExecution struct {
	ARN      string         `json:"executionArn"`
	Start    time.Time      `json:"executionStart"`
	Redrives int            `json:"redriveCount,omitempty"` // before the history was read
	Jobs     []keptJob      `json:"jobs"`
	LeftOut  map[string]int `json:"leftOut,omitempty"` // jobs, by the reason
}

// keptJob is a job that ended, and the Task that polled it.
type keptJob struct {
	State       string   `json:"state"`
	FromSeconds float64  `json:"fromSeconds"`
	ToSeconds   float64  `json:"toSeconds"`
	LateSeconds *float64 `json:"lateSeconds,omitempty"`
}

// newKeptExecution reads the jobs of an execution.
func newKeptExecution(listed stepfunctions.Ended, e *history.Execution) *keptExecution {
	k := &keptExecution{ARN: listed.ARN, Start: listed.Start, Redrives: listed.Redrives, Jobs: []keptJob{}}
	if k.Start.IsZero() { // nothing lists it
		k.Start, k.Redrives = e.Start, e.CountRedrives()
	}
	var left pastJobs
	jobs := e.FindJobs(e.FindVisits())
	if len(jobs) == 0 {
		left.leave(pollsNothing)
	}
	for _, found := range jobs {
		var one pastJobs
		if err := one.addPolled(found); err != nil {
			left.leave("whose times cannot be right")
		}
		for reason := range one.left {
			left.leave(reason)
		}
		for _, j := range one.jobs {
			job := keptJob{State: found.State, FromSeconds: j.From.Seconds(), ToSeconds: j.To.Seconds()}
			if j.late != nil {
				late := j.late.Seconds()
				job.LateSeconds = &late
			}
			k.Jobs = append(k.Jobs, job)
		}
	}
	k.LeftOut = left.left
	return k
}

// addTo adds the jobs that count.
func (k *keptExecution) addTo(p *pastJobs) error {
	for _, j := range k.Jobs {
		if p.leaveOther(j.State) {
			continue
		}
		job := pastJob{Sample: plan.Sample{From: kit.Seconds(j.FromSeconds), To: kit.Seconds(j.ToSeconds)}}
		if j.LateSeconds != nil {
			late := kit.Seconds(*j.LateSeconds)
			job.late = &late
		}
		if err := p.addJob(job); err != nil {
			return err
		}
	}
	for reason, n := range k.LeftOut {
		if n < 0 || n > mostDurations {
			return fmt.Errorf("leftOut: %q must be from 0 to %d jobs, is %d", cutText(reason), mostDurations, n)
		}
		p.leaveMany(cutText(reason), n)
	}
	return nil
}

// keptFile is the file of --keep.
type keptFile struct {
	name  string
	out   *os.File // nil: nothing is kept
	byARN map[string]*keptExecution
}

// find returns what is kept of an execution; nil if its history is to be read, also
// because a redrive has added to it.
func (k *keptFile) find(listed stepfunctions.Ended) *keptExecution {
	if e := k.byARN[listed.ARN]; e != nil && !listed.Start.IsZero() && e.Redrives == listed.Redrives {
		return e
	}
	return nil
}

// openKept opens the file, or creates it, and reads what it has of the executions. A last
// line that was cut off is taken away.
func openKept(name string, of *stepfunctions.Origin) (k *keptFile, err error) {
	k = &keptFile{name: name, byARN: map[string]*keptExecution{}}
	if name == "" {
		return k, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, kit.Usage("--keep: %s is not a regular file: pass another one", name)
	}
	const mode = 0o600
	if k.out, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, mode); err != nil { //nolint:gosec // the user names it
		return nil, kit.Usage("--keep: %w", err)
	}
	if err := k.read(of); err != nil {
		return nil, errors.Join(kit.Usage("--keep %s: %w", name, err), k.close())
	}
	return k, nil
}

func (k *keptFile) read(of *stepfunctions.Origin) error {
	text, err := io.ReadAll(io.LimitReader(k.out, mostDurationBytes+1))
	switch {
	case err != nil:
		return err
	case len(text) > mostDurationBytes:
		return fmt.Errorf("the file has more than %d MiB: pass another one", mostDurationBytes>>20) //nolint:mnd // a MiB
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	lines, err := readKeptLines(text[:whole])
	if err != nil {
		return err
	}
	for i, line := range lines {
		if !of.Has(line.ARN) {
			return fmt.Errorf("line %d: it is of another state machine than %s: %s. Pass another file", i+1, of.Machine, line.ARN)
		}
		k.byARN[line.ARN] = line
	}
	if whole == len(text) {
		return nil
	}
	if begin := `{"executionArn":"`; !strings.HasPrefix(string(text[whole:]), begin[:min(len(begin), len(text)-whole)]) {
		return notKept(len(lines)+1, nil)
	}
	return k.out.Truncate(int64(whole))
}

// readKeptLines reads whole lines.
func readKeptLines(text []byte) (all []*keptExecution, err error) {
	for line := range bytes.Lines(text) {
		k := &keptExecution{}
		err := json.Unmarshal(line, k)
		if err == nil && (k.ARN == "" || k.Jobs == nil) {
			err = errors.New("executionArn or jobs is missing")
		}
		if err == nil {
			err = k.addTo(&pastJobs{})
		}
		if err != nil {
			return nil, notKept(len(all)+1, err)
		}
		all = append(all, k)
	}
	return all, nil
}

// notKept is the error of a line that --keep has not written.
func notKept(line int, why error) error {
	text := ""
	if why != nil {
		text = " (" + why.Error() + ")"
	}
	return fmt.Errorf("line %d: it is not a line that --keep writes%s. Pass another file, or delete the line", line, text)
}

// add keeps what was learned of an execution, at once.
func (k *keptFile) add(e *keptExecution) error {
	if old := k.byARN[e.ARN]; old != nil && old.Redrives == e.Redrives {
		return nil // an execution alone is read by each command
	}
	k.byARN[e.ARN] = e
	if k.out == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = k.out.Write(append(line, '\n'))
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, terminal.Errorf("--keep %s: %w", k.name, err))
	}
	return nil
}

func (k *keptFile) close() error {
	if k.out == nil {
		return nil
	}
	return k.out.Close()
}
