package callbacks

import "time"

// slack is for whole seconds of messages and waits, and for clocks that differ.
const slack = 15 * time.Second

// judge says what came of the waits that must not.
func (w *world) judge() {
	w.counts.Add("executions")
	w.counts.Add("class " + w.class)
	if len(w.service.jobs) > 1 {
		w.violation("%d jobs were started", len(w.service.jobs))
	}
	for _, t := range w.waits {
		w.counts.Add("waits")
		switch {
		case t.unknown:
			if w.class == "token" || w.class == "natural key" || w.faultShare == 0 {
				w.violation("the start is unknown")
			}
		case t.abandoned:
			w.counts.Add("ended: abandoned")
		case len(t.answers) == 0:
			w.violation("wait %d is never answered", t.redrive)
		default:
			w.counts.Add("ended: " + t.answers[0].status)
			w.judgeAnswer(t, t.answers[0])
		}
	}
}

// judgeAnswer compares an answer with the job.
func (w *world) judgeAnswer(t *wait, a answer) {
	j := w.service.jobs[0]
	ends, deadline := j.begun.Add(w.service.life), t.begun.Add(w.maxWait)
	wasStopped := !j.stopped.IsZero()
	due := deadline
	if ends.Before(due) {
		due = ends
	}
	if wasStopped && j.stopped.Before(due) {
		due = j.stopped
	}
	for _, earliest := range []time.Time{t.begun, t.accepted} {
		if due.Before(earliest) {
			due = earliest
		}
	}
	if late := a.at.Sub(due); late > 2*w.longestDelay()+t.injected+slack {
		w.violation("wait %d: %s comes %s after it was due, with %s of faults and delays of up to %s", t.redrive, a.status, late, t.injected, w.longestDelay())
	}
	switch a.status {
	case "SUCCEEDED", "FAILED":
		if wasStopped && a.status == "FAILED" && j.stopped.Before(t.begun) {
			return // for the wait before, which died before it could record that
		}
		want := map[string]string{"DONE": "SUCCEEDED", "BROKEN": "FAILED"}[w.service.end]
		if wasStopped || a.status != want || a.at.Before(ends) {
			w.violation("wait %d is %s at %s, but the job ends %s at %s, stopped at %s", t.redrive, a.status, a.at, w.service.end, ends, j.stopped)
		}
	case "TIMED_OUT":
		switch {
		case wasStopped:
			if j.stopped.Before(w.waits[0].begun.Add(w.maxWait - slack)) {
				w.violation("wait %d: the job is stopped before its time is up", t.redrive)
			}
		case w.stops && w.service.stopsTaken == 0:
			w.violation("wait %d times out, but no stop call has reached the service", t.redrive)
		case a.at.Before(deadline.Add(-slack)):
			w.violation("wait %d times out at %s, before %s", t.redrive, a.at, deadline)
		case ends.Before(deadline.Add(-slack)):
			w.violation("wait %d times out, but the job had ended %s at %s, before %s", t.redrive, w.service.end, ends, deadline)
		}
	case "JobPoller.ServiceUnavailable":
		if a.at.Before(deadline.Add(20*time.Minute - slack)) {
			w.violation("wait %d gives up early", t.redrive)
		}
	default:
		w.violation("wait %d ends as %s", t.redrive, a.status)
	}
}

// longestDelay is that between two polls: 15 percent of the time that has passed, or 10
// seconds if that is more, and maxDelay at most.
func (w *world) longestDelay() time.Duration { return max(w.maxDelay, 10*time.Second) }
