package fixtruth

import (
	"fmt"
	"slices"
	"strings"
)

// decisions writes the Choice states.
func (w *writer) decisions() {
	success, failure := w.successRules(w.successExit()), w.rules(w.failure, false, w.failureExit())
	wait := w.waitExit()
	var bound []any
	if w.bounded() {
		bound = []any{w.boundRule()}
	}
	if w.bounded() && (namesRunning(w.blueprint) || w.choices == thirdChoice) {
		w.choice(enough, bound, wait)
		wait = enough
	}
	switch w.choices {
	case defaultWaits:
		if !w.dropDefault {
			w.choice(done, slices.Concat(success, failure, bound), wait)
			break
		}
		w.choice(done, slices.Concat(success, failure, bound, w.rules(w.running, false, wait)), "")
		delete(w.states[done].(object), "Default")
	case defaultFails:
		w.choice(done, slices.Concat(success, w.rules(w.running, false, wait)), w.failureExit())
	case defaultDecides:
		w.choice(done, w.rules(w.running, false, wait), decide)
		w.choice(decide, success, w.failureExit())
	case defaultSucceeds:
		w.choice(done, slices.Concat(failure, w.rules(w.running, false, wait)), w.successExit())
	case secondChoice:
		w.choice(done, success, decide)
		w.choice(decide, slices.Concat(failure, bound), wait)
	case thirdChoice:
		w.choice(done, success, decide)
		w.choice(decide, failure, enough)
	}
}

func (w *writer) choice(name string, rules []any, otherwise string) {
	s := object{"Type": "Choice", "Choices": rules, "Default": otherwise}
	if w.mixed {
		s["QueryLanguage"] = "JSONata"
	}
	w.states[name] = s
}

// inJSONata tells whether conditions are.
func (w *writer) inJSONata() bool { return w.jsonata || w.mixed }

func (w *writer) boundRule() object {
	have, most := term{"$polls", "$polls"}, term{"", fmt.Sprint(w.limit)}
	if w.counter != "assign" {
		have = in("count.polls")
	}
	if w.counter == "input" {
		most = in("limit")
	}
	rule := object{"Variable": have.path, "NumericGreaterThanEquals": w.limit}
	switch {
	case w.inJSONata():
		rule = object{"Condition": "{% " + have.jsonata + " >= " + most.jsonata + " %}"}
	case most.path != "":
		rule = object{"Variable": have.path, "NumericGreaterThanEqualsPath": most.path}
	}
	if w.boundOfRunning {
		rule = w.both(rule, w.condition(w.waits(), false))
	}
	rule["Next"] = w.boundExit()
	return rule
}

// both joins two conditions by "and".
func (w *writer) both(one, other object) object {
	if !w.inJSONata() {
		return object{"And": []any{one, other}}
	}
	inside := func(o object) string {
		return strings.TrimSuffix(strings.TrimPrefix(o["Condition"].(string), "{% "), " %}")
	}
	return object{"Condition": "{% " + inside(one) + " and " + inside(other) + " %}"}
}

// successRules lead successes somewhere. An answer whose second member tells a failure goes there.
func (w *writer) successRules(next string) []any {
	rules := w.rules(w.success, true, next)
	if !w.split {
		return rules
	}
	for i, rule := range rules {
		both := w.both(w.condition(w.success[i:i+1], true), w.expects())
		both["Next"] = rule.(object)["Next"]
		rules[i] = both
	}
	return append(rules, w.rules(w.success, true, w.failureExit())...)
}

// expects is the condition that the second member is as expected.
func (w *writer) expects() object {
	second := w.member(w.op.second)
	if w.inJSONata() {
		text, is := w.op.expected.(string)
		if is {
			text = "'" + text + "'"
		} else {
			text = fmt.Sprint(w.op.expected)
		}
		return object{"Condition": "{% " + second.jsonata + " = " + text + " %}"}
	}
	operator := "NumericEquals"
	switch w.op.expected.(type) {
	case string:
		operator = "StringEquals"
	case bool:
		operator = "BooleanEquals"
	}
	return object{"Variable": second.path, operator: w.op.expected}
}

// rules lead statuses somewhere.
func (w *writer) rules(statuses []string, success bool, next string) []any {
	groups := [][]string{statuses}
	if w.apart {
		groups = nil
		for _, s := range statuses {
			groups = append(groups, []string{s})
		}
	}
	var rules []any
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		rule := w.condition(group, success)
		rule["Next"] = next
		rules = append(rules, rule)
	}
	return rules
}

func (w *writer) condition(statuses []string, success bool) object {
	if w.jobs > 1 {
		return w.countCondition(statuses, success != w.any)
	}
	status := w.statusTerm()
	if w.inJSONata() {
		text := status.jsonata + " = '" + statuses[0] + "'"
		if len(statuses) > 1 {
			text = status.jsonata + " in ['" + strings.Join(statuses, "', '") + "']"
		}
		if w.guarded {
			text = "$exists(" + status.jsonata + ") and " + text
		}
		return object{"Condition": "{% " + text + " %}"}
	}
	rule := anyOf(status.path, statuses)
	if w.guarded {
		rule = object{"And": []any{object{"Variable": status.path, "IsPresent": true}, rule}}
	}
	return rule
}

// counted are the statuses that a poll of several jobs counts, by the members that have the numbers.
func (w *writer) counted() map[string][]string {
	return map[string][]string{"succeeded": w.success, "failed": w.failure, "going": w.running}
}

// counts selects the numbers of jobs with each outcome from the answer.
func (w *writer) counts() object {
	selected := object{}
	for name, statuses := range w.counted() {
		var each []string
		for _, s := range statuses {
			each = append(each, fmt.Sprintf("@.%s == '%s'", strings.Join(w.op.status, "."), s))
		}
		selected[name+".$"] = fmt.Sprintf("States.ArrayLength(%s[?(%s)])", w.items("$"), strings.Join(each, " || "))
	}
	return selected
}

// countsExpression is the same in JSONata.
func (w *writer) countsExpression() string {
	var each []string
	for name, statuses := range w.counted() {
		each = append(each, fmt.Sprintf("'%s': %s", name, w.countOf("$states.result", statuses)))
	}
	slices.Sort(each)
	return "{" + strings.Join(each, ", ") + "}"
}

// countOf is how many jobs of an answer have one of the statuses, in JSONata.
func (w *writer) countOf(answer string, statuses []string) string {
	return fmt.Sprintf("$count(%s[%s in ['%s']])", w.items(answer), strings.Join(w.op.status, "."), strings.Join(statuses, "', '"))
}

// numberCondition asks for the number of jobs with an outcome that the poll has counted.
func (w *writer) numberCondition(statuses []string, all bool) object {
	var number term
	for name, counted := range w.counted() {
		if slices.Equal(counted, statuses) {
			number = in("r." + name)
		}
	}
	switch {
	case w.inJSONata() && all:
		return object{"Condition": "{% " + number.jsonata + " = $count($states.input.ids) %}"}
	case w.inJSONata():
		return object{"Condition": "{% " + number.jsonata + " > 0 %}"}
	case all:
		return object{"Variable": number.path, "NumericEquals": w.jobs}
	}
	return object{"Variable": number.path, "NumericGreaterThan": 0}
}

// countCondition asks whether all of the jobs, or any, have one of the statuses.
func (w *writer) countCondition(statuses []string, all bool) object {
	if w.result == "counts" {
		return w.numberCondition(statuses, all)
	}
	if w.inJSONata() {
		text := w.countOf("$states.input.r", statuses)
		if all {
			return object{"Condition": "{% " + text + " = $count($states.input.ids) %}"}
		}
		return object{"Condition": "{% " + text + " > 0 %}"}
	}
	var each []any
	for i := range w.jobs {
		each = append(each, anyOf(fmt.Sprintf("%s[%d].%s", w.items("$.r"), i, strings.Join(w.op.status, ".")), statuses))
	}
	if all {
		return object{"And": each}
	}
	return object{"Or": each}
}
