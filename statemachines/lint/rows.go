package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// fill makes the rows of the table.
func (r *reading) fill() {
	if r.status == nil {
		return
	}
	trunk := r.trunk()
	var rules []string // that each row breaks: a finding is about all values of its row
	for _, value := range r.allValues() {
		taken := r.takenBy(value)
		lacks := r.lacking[value]
		if lacks {
			taken = r.routes[value]
		}
		row := Row{Meaning: r.status.meaning(r.judges, value), Routes: r.targetsOf(taken, trunk)}
		row.Ends = r.endOf(row.Meaning, taken)
		if row.Ends == NextJob {
			row.Last = endOf(slices.DeleteFunc(slices.Clone(taken), func(way route) bool { return way.ends == NextJob }))
		}
		row.Forks = r.forksOf(&row, taken, trunk)
		row.Split = row.Forks == nil && row.Ends == GoesOn && endsIn(taken, EndsFailure) && (endsIn(taken, EndsSuccess) || endsIn(taken, GoesOn))
		row.Restarts = row.Meaning == MeansFailure && row.Ends == GoesOn && endsIn(taken, StartsAgain)
		row.noteFailing(r.takenBy(value), lacks)
		row.Compared = slices.Contains(r.compared, value)
		leaves := row.Ends != PollsOn && row.Ends != EndsUnknown
		if row.Meaning == MeansRunning && !r.isStated(value) && (leaves || !isGoing(value)) {
			row.Meaning = MeansUnknown // an AWS waiter polls on for it, and nobody says that the job runs
		}
		if row.Meaning == MeansRunning && r.change.undoes(r.status, value) {
			row.Meaning = MeansEnding
		}
		if value != anyOther {
			r.describe(&row, value)
		}
		if len(row.Values) > 0 && row.isGoing() && row.Ends == EndsSuccess && r.outside.inner && !r.outside.quiet && !r.joinsSuccess(&row) {
			row.Ends = GoesOn // what follows the Map or Parallel judges it
		}
		rule := ""
		if len(row.Values) > 0 {
			broken, severity, _ := r.judge(&row)
			rule = fmt.Sprint(broken, severity)
		}
		r.addMixed(&row, value, trunk)
		i := 0
		for i < len(r.Rows) && (len(row.Values) == 0 || rules[i] != rule || !r.Rows[i].says(&row)) {
			i++
		}
		if i < len(r.Rows) {
			r.Rows[i].Values = append(r.Rows[i].Values, value)
			continue
		}
		r.Rows, rules = append(r.Rows, row), append(rules, rule)
	}
	sortRows(r.Rows)
}

// addMixed adds to a row where its value leads beside jobs with others.
func (r *reading) addMixed(row *Row, value string, trunk int) {
	if value == anyOther {
		value = otherValue
	}
	ways := r.takenBy(value)
	for _, m := range r.mixed[value] {
		ways = addRoutes(ways, m.routes)
	}
	end, routes := r.endOf(row.Meaning, ways), r.targetsOf(ways, trunk)
	if r.listing == nil || end == row.Ends && slices.Equal(routes, row.Routes) {
		return
	}
	row.Mixed, row.Split, row.FailsAlike = true, false, row.FailsAt != "" && len(row.Routes) == 0
	row.Routes, row.Ends = routes, end
	row.Forks = r.forksOf(row, ways, trunk)
}

// allValues are the values that may have a row: with any other, if there may be one.
func (r *reading) allValues() []string {
	all := slices.Concat(r.status.values, r.compared)
	if r.status.complete {
		return all
	}
	return append(all, anyOther)
}

// describe says what is known of a value that has a row.
func (r *reading) describe(row *Row, value string) {
	row.Values = []string{value}
	row.By = r.tellerOf(value)
	row.Either = r.status.meaningsOf(r.judges, value)
	row.Partial = row.Meaning == MeansFailure && slices.ContainsFunc(r.judges, func(j *judge) bool { return j.isPartial(value) })
	row.Later = row.Meaning == MeansUnknown && r.comesLater(value) || row.Meaning == MeansEnding && r.isTaken(value)
	row.Held = (row.Meaning == MeansRunning || row.Meaning == MeansFailure) && r.passes(value, catalog.PassingHeld)
	row.Usable = r.passes(value, catalog.PassingUsable)
	row.Change = row.Meaning == MeansEnding && r.passes(value, catalog.PassingChange)
	row.Kind, row.OtherKind = r.kindOf(value)
	if row.Meaning == MeansUnclear {
		row.Member = r.judges[0].second[value]
	}
}

// tellerOf says who tells the meaning of a value that the catalogue does not have.
func (r *reading) tellerOf(value string) Teller {
	switch {
	case !r.ByName || r.status.meaning(r.judges, value) == MeansUnknown:
		return ""
	case r.isStated(value):
		return ByUser
	case r.Derived != nil:
		return ByModel
	default:
		return ByName
	}
}

// says tells whether a row says of its values what another says of its own.
func (o *Row) says(row *Row) bool {
	return o.Meaning == row.Meaning && o.By == row.By && o.Compared == row.Compared && o.Member == row.Member &&
		o.Partial == row.Partial && o.Later == row.Later &&
		o.Change == row.Change && o.Held == row.Held && o.Usable == row.Usable && o.Mixed == row.Mixed &&
		o.Kind == row.Kind && o.Split == row.Split && o.Restarts == row.Restarts &&
		o.FailsAt == row.FailsAt && o.Lacks == row.Lacks &&
		slices.Equal(o.Either, row.Either) && slices.Equal(o.Forks, row.Forks) && o.Ends == row.Ends && o.Last == row.Last && slices.Equal(o.Routes, row.Routes)
}

// forksOf are the ends of the ways that a row leads, by the states that it leads to; nil if they do not
// differ, or one is not known.
func (r *reading) forksOf(row *Row, ways []route, trunk int) []Fork {
	if row.Ends != GoesOn && row.Ends != EndsUnknown {
		return nil
	}
	byTarget := map[string][]route{}
	for _, way := range ways {
		for _, target := range r.targetsOf([]route{way}, trunk) {
			byTarget[target] = append(byTarget[target], way)
		}
	}
	var forks []Fork
	for _, target := range row.Routes {
		end := r.endOf(row.Meaning, byTarget[target])
		if end != PollsOn && end != EndsSuccess && end != EndsFailure {
			return nil
		}
		forks = append(forks, Fork{Route: target, Ends: end})
	}
	if len(forks) < 2 { //nolint:mnd // one is no fork
		return nil
	}
	return forks
}
