package fix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
)

// deadlines are the edits that end a loop by time, where its waits differ or only the run
// tells how long they are. In a loop of some turns, no known Wait may end earlier than the
// history; else the number is the user's.
func (b *boundEdit) deadlines(base candidate, turns int, r *repairer) []candidate {
	longest, open := b.longestWait()
	after := time.Duration(turns) * longest
	if r.options.MaxWait > 0 {
		after = r.options.MaxWait
	} else if open != nil {
		base.class = Offered
		base.also = joinTexts(base.also, fmt.Sprintf("this is for a Wait of %s in %q, where the definition does not say how long it is: "+
			"pass --max-wait if it is longer", spell(usualWait), open.Name))
	}
	after = max(after.Truncate(time.Second), time.Second)
	base.about, base.failing = "a job that has not ended after "+spell(after), "calls of %s that still fail after "+spell(after)
	if b.language == asl.JSONata {
		return b.bySize(base, r, b.deadline(after))
	}
	return b.bySize(base, r, b.deadlineByState(after))
}

// longestWait is the longest of the waits, and the first that the definition does not know, which
// counts as a trial takes it; nil for none.
func (b *boundEdit) longestWait() (longest time.Duration, open *asl.State) {
	for _, s := range b.loop.Waits {
		waits, steady := b.loop.Steady[s]
		if !steady {
			open, waits = cmp.Or(open, s), usualWait
		}
		longest = max(longest, waits)
	}
	return longest, open
}

// joinTexts joins two parts of a line; either may be empty.
func joinTexts(a, b string) string {
	return strings.Join(slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" }), "; ")
}

// deadline is a moment that a variable has.
func (b *boundEdit) deadline(after time.Duration) []edit.Edit {
	b.variable = b.newVariable("deadline")
	begin := b.begin(value(b.variable, fmt.Sprintf("{%% $millis() + %d %%}", after.Milliseconds())))
	last := b.last(value("Condition", fmt.Sprintf("{%% $millis() > $%s %%}", b.variable), "Next", b.fail))
	if begin == nil || last == nil {
		return nil
	}
	return append(append(begin, last...), b.failState(fmt.Sprintf("the job did not end within %s", spell(after))))
}

// deadlineByState is a state in JSONata, which alone has a clock, in a loop in JSONPath.
func (b *boundEdit) deadlineByState(after time.Duration) []edit.Edit {
	b.variable = b.newVariable("started")
	begin := b.begin(value(b.variable+".$", "$$.State.EnteredTime"))
	rule := value("Condition", fmt.Sprintf("{%% $millis() - $toMillis($%s) > %d %%}", b.variable, after.Milliseconds()), "Next", b.fail)
	choice := func(to string) []byte {
		return value("QueryLanguage", asl.JSONata, "Type", "Choice", "Choices", json.RawMessage("["+string(rule)+"]"), "Default", to)
	}
	var again []edit.Edit
	for _, s := range slices.Backward(b.choices) {
		if again == nil && b.judges(s) {
			again = b.lookAgain(s, choice)
		}
	}
	if s := b.meeting(); s != nil && again == nil {
		again = b.lookBefore(s, choice)
	}
	if begin == nil || again == nil {
		return nil
	}
	return append(append(begin, again...), b.failState(fmt.Sprintf("the job did not end within %s", spell(after))))
}
