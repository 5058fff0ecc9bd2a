package compile

import (
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Hold returns the schedule that a machine has where this one is asked for, and whether
// that is the same. A Retry block holds the first delay and one other: the mean of those
// that the schedule lists.
func (s Strategy) Hold(p pollcore.Planned) (held pollcore.Planned, same bool) {
	between := listBetween(p)
	if len(between) == 0 || !s.PollsByRetry() {
		return p, true
	}
	sum := time.Duration(0)
	for _, d := range between {
		sum += d
	}
	mean := (sum / time.Duration(len(between))).Round(time.Second)
	return pollcore.Planned{Delays: p.Delays[:1], Then: mean}, false
}

// listBetween are the delays between calls that a schedule lists, without those at
// the end that are as all later ones.
func listBetween(p pollcore.Planned) []time.Duration {
	between := p.Delays[1:]
	for len(between) > 0 && between[len(between)-1] == p.Then {
		between = between[:len(between)-1]
	}
	return between
}
