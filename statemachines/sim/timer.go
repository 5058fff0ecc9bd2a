package sim

import "time"

// timer is a function that waits for its time.
type timer struct {
	at       time.Time
	sequence uint64
	f        func() // nil once it is stopped or done
	actor    *actor // nil: a function of the caller
	index    int    // in the heap; -1 if it is not there
	counted  bool   // it is one of the timers of its run
	slot     int    // among them
	local    bool   // its run has it, and the clock has not
}

// timerHeap orders timers by time, then by registration.
type timerHeap []*timer

func (h *timerHeap) Len() int { return len(*h) }

func (h *timerHeap) Less(i, j int) bool { return (*h)[i].before((*h)[j]) }

func (h *timerHeap) Swap(i, j int) {
	timers := *h
	timers[i], timers[j] = timers[j], timers[i]
	timers[i].index, timers[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

func (t *timer) before(other *timer) bool {
	if c := t.at.Compare(other.at); c != 0 {
		return c < 0
	}
	return t.sequence < other.sequence
}
