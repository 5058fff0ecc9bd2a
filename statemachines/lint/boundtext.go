package lint

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// DescribeBound says what ends the loop, and where it leads then.
func (l *Loop) DescribeBound() string {
	if !l.Express {
		return l.Bound.describe(l.Hot)
	}
	own, limit := l.Bound, fmt.Sprintf("after %s, as Express workflows do", span(asl.MaxExpressTime))
	own.USD, own.Loops, own.Items = 0, 0, false // which are billed by their time, and have no limit of events
	switch {
	case own.FailsAt != "" && own.Kind == Unbounded:
		return own.describeBroken() + "; else ends " + limit
	case own.Kind == Unbounded || own.After >= asl.MaxExpressTime || own.Failing != "":
		return "ends " + limit
	case own.After == 0:
		return own.describe(l.Hot) + ", or " + limit
	default:
		return own.describe(l.Hot)
	}
}

// DescribeRunning says what ends the loop of a job that never ends where DescribeBound tells of
// failing calls; empty where it does not.
func (l *Loop) DescribeRunning() string {
	if l.Bound.Running == nil || l.Express {
		return ""
	}
	return "while the job runs: " + l.Bound.Running.describe(l.Hot)
}

func (b *Bound) describe(hot bool) string {
	if b.FailsAt != "" {
		written := *b
		written.FailsAt = ""
		return b.describeBroken() + "; else " + written.describe(hot)
	}
	if b.Beside == nil {
		return b.describeAlone(hot)
	}
	return b.describeAlone(hot) + ", or earlier" + strings.TrimPrefix(b.Beside.describe(hot), "ends")
}

// describeBroken says where a loop ends that fails before its bound.
func (b *Bound) describeBroken() string {
	when := map[bool]string{false: "at the first", true: "before the second"}[b.Again]
	return fmt.Sprintf("ends %s poll of a job that runs: %q fails with %s", when, b.FailsAt, b.FailsWith)
}

// describeAlone says what ends the loop by itself.
func (b *Bound) describeAlone(hot bool) string {
	cost := b.cost()
	if b.Error != "" {
		return fmt.Sprintf("ends at the first poll of a job that runs: %s fails with %s", quoteAll(b.At), b.Error)
	}
	switch b.Kind {
	case Unbounded:
		return b.describeUnbounded(cost, hot)
	case ByCount:
		return fmt.Sprintf("ends at %s polls%s%s, %s%s", thousands(b.Polls), b.place(), b.leads(), cost, b.inRounds()+b.anew()+b.inTime()+b.earlier())
	case ByTimeout:
		switch {
		case b.After == 0:
			return "ends by TimeoutSeconds"
		case b.Polls == 0:
			return "ends by TimeoutSeconds, after " + span(b.After)
		}
		return fmt.Sprintf("ends by TimeoutSeconds, %s%s", cost, b.earlier())
	case ByBranch:
		return b.describeBranch(cost)
	case ByTime:
		text := "ends at a time" + cmp.Or(b.place(), " that a Choice looks at") + b.leads()
		switch {
		case b.After == 0:
			return text + b.inTime()
		case b.Polls == 0 && b.AtMost:
			return text + ", after " + span(b.After) + " at most"
		case b.Polls == 0:
			return text + ", after " + span(b.After)
		}
		return fmt.Sprintf("%s, %s%s", text, cost, b.earlier())
	default:
		return "ends" + cmp.Or(b.place(), " by something that a Choice looks at") + b.leads() + b.inTime()
	}
}

// describeBranch says which branch ends the loop.
func (b *Bound) describeBranch(cost string) string {
	text := fmt.Sprintf("ends by %s in another branch of %s%s", quoteAny(b.At), quoteAll(b.By), b.leads())
	switch {
	case b.After == 0:
		return text + b.inTime()
	case b.Polls == 0:
		return text + ", after " + span(b.After)
	}
	return fmt.Sprintf("%s, %s%s", text, cost, b.earlier())
}

// inTime says when TimeoutSeconds is over, where nobody knows how long it takes to the bound.
func (b *Bound) inTime() string {
	if b.Timeout == 0 {
		return ""
	}
	return ", or earlier by TimeoutSeconds, after " + span(b.Timeout)
}

// cost says how long it takes to the bound, and what that costs.
func (b *Bound) cost() string {
	cost := thousands(b.Transitions) + " transitions"
	if b.USD > 0 {
		cost += ", " + dollars(b.USD)
	}
	if b.AtMost || b.Kind == Unbounded && b.isShared() {
		cost += " at most"
	}
	if b.After > 0 {
		cost = "after " + span(b.After) + ", " + cost
	}
	return cost
}

// describeUnbounded says what ends a loop whose history is full, or a year over, first.
func (b *Bound) describeUnbounded(cost string, hot bool) string {
	bound := "no bound"
	switch {
	case b.After == asl.MaxStandardTime:
		return "no bound within a year: ends " + cost + ", as executions do" + b.earlier()
	case b.Failing != "":
		bound += fmt.Sprintf(" while %q fails", b.Failing)
	case b.Late:
		bound = "late bound"
	}
	if hot {
		cost = "without a pause, " + cost
	}
	return fmt.Sprintf("%s: ends at %s, %s", bound, b.events(), cost)
}

// leads says where the loop goes when its bound is reached; empty if that is not known.
func (b *Bound) leads() string {
	switch {
	case b.Route == "" && b.Kind == ByBranch && b.Ends != "":
		return fmt.Sprintf(" (%s)", doesOf[b.Ends])
	case b.Route == "":
		return ""
	}
	does := doesOf[b.Ends]
	if b.Whole != nil {
		does = b.Whole.String()
	}
	return fmt.Sprintf(" -> %s (%s)", b.Route, does)
}
