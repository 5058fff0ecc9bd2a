package compile

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore"
)

// pollLoopTurn is the cost of a loop of Task, Choice and Wait.
var pollLoopTurn = turn{steps{3, 9}, steps{3, 8}, steps{1, 4}, steps{}}

// newPollLoop returns a writer of such a loop, whose variable counts the calls.
func newPollLoop(d *draft) *jsonata {
	attempt := "$" + d.variable("attempt")
	return &jsonata{
		draft: d, judged: "$states.input", response: "$states.input",
		attempt: attempt, failedAttempt: attempt + " + 1", counts: true, last: d.total,
	}
}

// pollLoop is a loop of Task, Choice and Wait, with what comes before and behind it.
func (j *jsonata) pollLoop() states {
	late := j.late()
	describe, check, wait := j.name(j.call.Operation.Name), j.name("Check"), j.name("Wait")
	again := j.name("BeforeDeadline")
	task := j.pollTask(object{
		"Type": "Task", "Arguments": expression("$" + j.variable("arguments")), "Assign": j.countCall(), "Next": check,
	})
	goesOn := j.ambiguous() != nil || j.retriesErrors()
	task["Catch"] = j.catchers(again)
	all := append(j.begin(describe), state{describe, task})

	onward := func(condition string) object {
		return object{"Condition": expression(condition), "Output": object{}, "Next": wait}
	}
	var choices []object
	for _, r := range j.judge() {
		if r.state == pollcore.Retry {
			choices = append(choices, onward("("+r.condition+") and "+j.early()), j.choice(r.condition, pollcore.Retry, late))
		} else {
			choices = append(choices, j.choice(r.condition, r.state, r.says))
		}
	}
	all = append(all, state{check, object{
		"Type": "Choice", "Choices": append(choices, onward(j.early())), "Output": j.endResult(pollcore.Retry, late), "Default": j.afterDeadline(),
	}})
	all = append(all, j.lookAtError(again)...)
	if goesOn {
		all = append(all, state{again, object{
			"Type":    "Choice",
			"Choices": []object{onward(j.early())},
			"Output":  expression("$states.input"),
			"Default": j.afterDeadline(),
		}})
	}
	all = append(all, state{wait, object{"Type": "Wait", "Seconds": expression(j.delay()), "Next": describe}})
	return append(all, j.ends()...)
}

// delay is the time to the next call, in seconds, by the rule of
// [pollcore.Schedule]: a draw around a delay that grows with each call, cut so that
// the last call starts at the deadline and the one before leaves it a minimum delay.
func (j *jsonata) delay() string {
	// The deadline may pass between the Choice and the Wait.
	left := fmt.Sprintf("$max([0, $ceil((%s - $millis()) / 1000)])", j.deadline())
	if j.planned != nil {
		return fmt.Sprintf("$min([%s, %s])", j.selectDelay(), left)
	}
	if j.hi == j.low {
		return fmt.Sprintf("$min([%d, %s])", j.low, left)
	}
	leaves := fmt.Sprintf("$left - %d", j.low)
	if j.hi < 2*j.low {
		leaves = fmt.Sprintf("$max([%d, %s])", j.low, leaves)
	}
	// A power of any attempt could be too large for a number.
	grown := fmt.Sprintf("$min([%d, %d * $power(%g, $min([$%s - 1, %d]))])", j.hi, j.low, pollcore.Growth, j.variable("attempt"), j.growing())
	return fmt.Sprintf("($left := %s; $delay := %s; $spread := $min([%g * $delay, $delay - %d, %d - $delay]); "+
		"$draw := $round($delay + $spread * (2 * $random() - 1)); $left - $draw >= %[4]d ? $draw : $left > %[5]d ? %[6]s : $left)",
		left, grown, pollcore.Spread, j.low, j.hi, leaves)
}
