package lint

// work is how much lint follows for one loop: answers, each by its jobs and by how long the loop's expressions are.
type work struct {
	weight int // of one job
	left   int
}

// mostWork takes some seconds.
const mostWork = 500_000_000

// shortRule is how long a rule is at least.
const shortRule = 64

// workOn is the work on a loop.
func workOn(l *loop) *work {
	w := &work{weight: shortRule, left: mostWork}
	for _, s := range l.states {
		var expressions []string
		for _, t := range templatesOf(s) {
			expressions = appendExpressions(expressions, t)
		}
		if s.Choice != nil {
			expressions = append(expressions, expressionsOf(s)...)
			w.weight += shortRule * len(s.Choice.Rules)
		}
		for _, e := range expressions {
			w.weight += len(e)
		}
	}
	return w
}

// spend tells whether there is work left for an answer with some jobs. Nil is work without an end.
func (w *work) spend(jobs int) bool {
	if w == nil {
		return true
	}
	w.left -= jobs * w.weight
	return w.left >= 0
}

// isOver tells whether not all was followed.
func (w *work) isOver() bool { return w != nil && w.left < 0 }

// tooMuch says why a loop has no table whose answers are too many.
const tooMuch = "it compares so many values that lint does not follow each answer; lead each status by a rule of its own, " +
	"or try the loop: jobpoller run --simulate"
