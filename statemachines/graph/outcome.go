package graph

import (
	"cmp"
	"slices"
)

// Outcome says how a state ended in a run, where there is more to say than that it was
// left. Package history finds it.
type Outcome string

// The outcomes, from the least bad to the worst.
const (
	// Retried is for a state that failed and was tried again, with success.
	Retried Outcome = "retried"
	// Caught is for a state whose failure a Catch took, its own or one around it, or
	// whose failure a Map tolerated.
	Caught Outcome = "caught"
	// Aborted is for a state that was stopped: with the execution, or because another
	// branch failed.
	Aborted Outcome = "aborted"
	// TimedOut and Failed are for states at which the execution ended.
	TimedOut Outcome = "timed-out"
	Failed   Outcome = "failed"
)

// looks say how outcomes are called, and what they mean, in the order of Outcome.
var looks = []struct {
	outcome     Outcome
	word, means string
}{
	{Retried, "retried", "it failed, and a retry went on"},
	{Caught, "caught", "a Catch took the failure"},
	{Aborted, "aborted", "it was stopped"},
	{TimedOut, "timed out", "the execution ended here"},
	{Failed, "failed", "the execution ended here"},
}

// Compare is positive if the outcome is worse than another one.
func (o Outcome) Compare(other Outcome) int { return cmp.Compare(o.rank(), other.rank()) }

// Word is the outcome in a word or two, such as "timed out"; empty for none.
func (o Outcome) Word() string {
	if rank := o.rank(); rank >= 0 {
		return looks[rank].word
	}
	return ""
}

// rank is higher for a worse outcome; -1 for none.
func (o Outcome) rank() int {
	for i := range looks {
		if looks[i].outcome == o {
			return i
		}
	}
	return -1
}

// Ending is the worst that came of a state.
type Ending struct {
	Outcome Outcome
	// Text says it in full: "failed: States.NoChoiceMatched".
	Text string
}

// outcomes are those of a flow's states and of the states inside, the worst first.
func (f *flow) outcomes() []Outcome {
	var all []Outcome
	for n := range f.states {
		if n.ending.Outcome.rank() >= 0 && !slices.Contains(all, n.ending.Outcome) {
			all = append(all, n.ending.Outcome)
		}
	}
	slices.SortFunc(all, func(a, b Outcome) int { return b.Compare(a) })
	return all
}

// Measures of the legend.
const (
	legendWidth = 280
	legendLine  = 20
	swatchWidth = 26
	swatchSize  = 12 // high
)

func legendHeight(all []Outcome) float64 { return float64(len(all)) * legendLine }

// legend says what the outcomes that occur look like, and mean.
func (d *drawing) legend(all []Outcome, at point) {
	d.printf(`<g class="legend">`)
	for i, o := range all {
		y := at.y + float64(i)*legendLine
		d.printf(`<g class="%s"><rect class="shape" x="%s" y="%s" width="%d" height="%d" rx="3"/></g><text x="%s" y="%s">%s</text>`+"\n",
			o, number(at.x), number(y), swatchWidth, swatchSize, number(at.x+swatchWidth+8), number(y+swatchSize-2), text(o.Word()+": "+looks[o.rank()].means))
	}
	d.printf("</g>\n")
}
