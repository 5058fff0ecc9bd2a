// Package pastjobs finds out how long jobs took: out of files, of the list of their
// service, and of the histories of executions.
package pastjobs

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// What a source may have at most.
const (
	MaxBytes      = 64 << 20 // of a file
	mostLineBytes = 1 << 20
	mostJobs      = 1_000_000
)

// ErrTooMany is the error of a source with more jobs than are read.
var ErrTooMany = fmt.Errorf("there are more than %d durations: pass some of them", mostJobs)

// Job is a job that has ended.
type Job struct {
	plan.Sample

	// Late is how late its end was seen; nil if that is not known exactly.
	Late *time.Duration
}

// Jobs are jobs that have ended, and why others in the same source do not count.
type Jobs struct {
	// Only is the Task whose jobs count; empty for those of all.
	Only string

	Ended []Job
	Left  map[string]int // the number of jobs that do not count, by the reason
	// Hint says what else could be meant by the times of the source.
	Hint string
	// Tasks are those that polled, where the source names them.
	Tasks map[string]bool
	// Executions are the starts of the executions that the source names, by their ARNs.
	Executions map[string]time.Time
}

// Samples are how long the jobs took.
func (p *Jobs) Samples() []plan.Sample {
	all := make([]plan.Sample, len(p.Ended))
	for i, j := range p.Ended {
		all[i] = j.Sample
	}
	return all
}

// Leave counts a job that says nothing, with the reason.
func (p *Jobs) Leave(reason string) { p.leaveMany(reason, 1) }

// add takes in a job that took from one time to another.
func (p *Jobs) add(from, to time.Duration) error {
	return p.addJob(Job{Sample: plan.Sample{From: from, To: to}})
}

func (p *Jobs) addJob(j Job) error {
	switch {
	case j.From < 0 || j.To < 0:
		return fmt.Errorf("a duration must not be negative, is %s", min(j.From, j.To))
	case j.To < j.From:
		return fmt.Errorf("the longest time (%s) must not be below the shortest (%s)", j.To, j.From)
	case j.To > asl.MaxStandardTime:
		return fmt.Errorf("a duration must be at most 365 days, is %s", j.To)
	case len(p.Ended) == mostJobs:
		return ErrTooMany
	}
	p.Ended = append(p.Ended, j)
	return nil
}

// addTimes takes in a job by the times of its start and end. Services cut these to
// seconds: a job of no time took less than one. Times in the wrong order are of two runs
// of one resource, or of clocks that were set back.
func (p *Jobs) addTimes(start, end time.Time) error {
	switch took := end.Sub(start); {
	case took < 0:
		p.Leave("with an end before the start")
		return nil
	case took == 0:
		return p.add(0, time.Second)
	default:
		return p.add(took, took)
	}
}

func (p *Jobs) leaveMany(reason string, n int) {
	if p.Left == nil {
		p.Left = map[string]int{}
	}
	p.Left[reason] += n
}

// leaveOther leaves out a job that another Task polled than the one that counts.
func (p *Jobs) leaveOther(state string) bool {
	if p.Tasks == nil {
		p.Tasks = map[string]bool{}
	}
	p.Tasks[state] = true
	isOther := p.Only != "" && state != p.Only
	if isOther {
		p.Leave("of other Tasks than " + p.Only)
	}
	return isOther
}
