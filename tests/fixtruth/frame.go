package fixtruth

import (
	"slices"
	"time"
)

// Frame is when a changed machine may do something else, as fix declares it.
type Frame struct {
	// Statuses and Errors are answers to a poll, and AnyOther stands for statuses that
	// nothing names, and for none.
	Statuses []string
	Errors   []string
	AnyOther bool
	// Polls are the Tasks whose answers these are.
	Polls []string
	// Stays are statuses of a job that never ends.
	Stays []string
	// Above is how long a job must last at least; 0 for no such frame.
	Above time.Duration
	// Spelled is a word that takes the place of a wrong one, and Absent tells that what may
	// be absent is no more read: each run may differ that never ends or breaks in the engine, and
	// with the right word each that shows the fault, if it ends as the twin's.
	Spelled string
	Absent  bool
	// Partly tells that another place with a wrong word is refused.
	Partly bool
	// Members have more than before in any run, or another count: of arguments, of the output, or CausePath.
	Members []string
}

// Declared is what fix says of the loops of a machine.
type Declared struct {
	Frames []Frame
	// Replaced tells that a loop was replaced: its pace is not kept then.
	Replaced bool
	// Refused are the reasons of the loops that stay.
	Refused []string
}

// allows tells whether a frame names one of the answers.
func (d Declared) allows(answers []answer) bool {
	for _, f := range d.Frames {
		if !f.isOfPoll() {
			continue
		}
		for _, a := range answers {
			if a.err == "" && slices.Contains(f.Statuses, a.status) || a.err != "" && (slices.Contains(f.Errors, a.err) || slices.Contains(f.Errors, "States.ALL")) ||
				f.AnyOther && a.err == "" && (a.status == "" || a.status == unknownStatus) {
				return true
			}
		}
	}
	return false
}

// isOfPoll tells whether its answers may be those of a poll, and are not of another Task alone.
func (f Frame) isOfPoll() bool {
	return len(f.Polls) == 0 || slices.ContainsFunc(f.Polls, func(task string) bool { return task == "" || task == poll || task == pollSecond })
}

// of leaves the frames of the answers to a Task.
func (d Declared) of(task string) Declared {
	d.Frames = slices.DeleteFunc(slices.Clone(d.Frames), func(f Frame) bool { return !slices.Contains(f.Polls, task) })
	return d
}

// stays tells whether a frame has a job that stays in the status of a scenario.
func (d Declared) stays(s scenario) bool {
	return s.endless && d.has(func(f Frame) bool { return slices.Contains(f.Stays, s.answers[0].status) })
}

// has tells whether a frame is so.
func (d Declared) has(is func(Frame) bool) bool { return slices.ContainsFunc(d.Frames, is) }

// breaks tells whether a frame has each run that breaks.
func (d Declared) breaks() bool {
	return d.has(func(f Frame) bool { return f.Absent || f.Spelled != "" })
}

// respells tells whether a word takes the place of a wrong one.
func (d Declared) respells() bool { return d.has(func(f Frame) bool { return f.Spelled != "" }) }

// widens tells whether frames have each member that differs.
func (d Declared) widens(difference Difference) bool {
	return len(difference.Members) > 0 && !slices.ContainsFunc(difference.Members, func(name string) bool {
		return !d.has(func(f Frame) bool { return slices.Contains(f.Members, name) })
	})
}

// longest is how long a job may last before a frame has it; 0 for no such frame.
func (d Declared) longest() time.Duration {
	var above time.Duration
	for _, f := range d.Frames {
		if f.Above > 0 && (above == 0 || f.Above < above) {
			above = f.Above
		}
	}
	return above
}

// above tells whether a run lasted longer than a frame says that it may.
func (d Declared) above(before *observed) bool {
	above := d.longest()
	return above > 0 && (before.endless || before.took > above)
}
