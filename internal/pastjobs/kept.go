package pastjobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// KeptExecution is what plan learned of an execution: a line of the file of --keep. Its
// JSON members are a contract: see docs/reference/json.md.
type KeptExecution struct {
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
func newKeptExecution(listed stepfunctions.Ended, e *history.Execution) *KeptExecution {
	k := &KeptExecution{ARN: listed.ARN, Start: listed.Start, Redrives: listed.Redrives, Jobs: []keptJob{}}
	if k.Start.IsZero() { // nothing lists it
		k.Start, k.Redrives = e.Start, e.CountRedrives()
	}
	var left Jobs
	jobs := e.FindJobs(e.FindVisits())
	if len(jobs) == 0 {
		left.Leave(pollsNothing)
	}
	for _, found := range jobs {
		var one Jobs
		if err := one.addPolled(found); err != nil {
			left.Leave("whose times cannot be right")
		}
		for reason := range one.Left {
			left.Leave(reason)
		}
		for _, j := range one.Ended {
			job := keptJob{State: found.State, FromSeconds: j.From.Seconds(), ToSeconds: j.To.Seconds()}
			if j.Late != nil {
				late := j.Late.Seconds()
				job.LateSeconds = &late
			}
			k.Jobs = append(k.Jobs, job)
		}
	}
	k.LeftOut = left.Left
	return k
}

// addTo adds the jobs that count.
func (k *KeptExecution) addTo(p *Jobs) error {
	for _, j := range k.Jobs {
		if p.leaveOther(j.State) {
			continue
		}
		job := Job{Sample: plan.Sample{From: Seconds(j.FromSeconds), To: Seconds(j.ToSeconds)}}
		if j.LateSeconds != nil {
			late := Seconds(*j.LateSeconds)
			job.Late = &late
		}
		if err := p.addJob(job); err != nil {
			return err
		}
	}
	for reason, n := range k.LeftOut {
		if n < 0 || n > mostJobs {
			return fmt.Errorf("leftOut: %q must be from 0 to %d jobs, is %d", terminal.Excerpt(reason), mostJobs, n)
		}
		p.leaveMany(terminal.Excerpt(reason), n)
	}
	return nil
}

// Kept is what a file keeps of executions, to read each history once.
type Kept struct {
	file  *os.File // nil: nothing is kept
	byARN map[string]*KeptExecution
}

// OpenKept reads what a file, which may be nil, has of the executions. A last line that
// was cut off is taken away.
func OpenKept(file *os.File, of *stepfunctions.Origin) (*Kept, error) {
	k := &Kept{file: file, byARN: map[string]*KeptExecution{}}
	if file == nil {
		return k, nil
	}
	return k, k.read(of)
}

// find returns what is kept of an execution; nil if its history is to be read, also
// because a redrive has added to it.
func (k *Kept) find(listed stepfunctions.Ended) *KeptExecution {
	if e := k.byARN[listed.ARN]; e != nil && !listed.Start.IsZero() && e.Redrives == listed.Redrives {
		return e
	}
	return nil
}

func (k *Kept) read(of *stepfunctions.Origin) error {
	text, err := io.ReadAll(io.LimitReader(k.file, MaxBytes+1))
	switch {
	case err != nil:
		return err
	case len(text) > MaxBytes:
		return fmt.Errorf("the file has more than %d MiB: pass another one", MaxBytes>>20) //nolint:mnd // a MiB
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
	return k.file.Truncate(int64(whole))
}

// KeepError is the error of a file that cannot keep more.
type KeepError struct{ Err error }

// Error implements error.
func (e *KeepError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the file.
func (e *KeepError) Unwrap() error { return e.Err }

// add keeps what was learned of an execution, at once. Its error is a *KeepError.
func (k *Kept) add(e *KeptExecution) error {
	if old := k.byARN[e.ARN]; old != nil && old.Redrives == e.Redrives {
		return nil // an execution alone is read by each command
	}
	k.byARN[e.ARN] = e
	if k.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = k.file.Write(append(line, '\n'))
	}
	if err != nil {
		return &KeepError{err}
	}
	return nil
}

// readKeptLines reads whole lines.
func readKeptLines(text []byte) (all []*KeptExecution, err error) {
	for line := range bytes.Lines(text) {
		k := &KeptExecution{}
		err := json.Unmarshal(line, k)
		if err == nil && (k.ARN == "" || k.Jobs == nil) {
			err = errors.New("executionArn or jobs is missing")
		}
		if err == nil {
			err = k.addTo(&Jobs{})
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
