package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// addArgument lets an argument of a call have a value in any case. The service refuses a null
// where it needs a value, and a made-up text is right in a message alone.
func (e *absentEdit) addArgument(s *asl.State, at, path, member string) bool {
	text := nodeAt(e.root, at).Text
	if !e.options.Types.NeedsArgument(s, path) {
		return e.addExpression(at, text)
	}
	read, _ := findRead(text, member)
	if insideBraces(text) != read.path {
		return false
	}
	e.offered = true
	name := path[strings.LastIndex(path, "/")+1:]
	switch {
	case isMessage(s.Task.Resource, name):
		all := rootOf(read.path)
		e.replace(at, fmt.Sprintf("{%% $exists(%s) ? %[1]s : $string(%s) %%}", read.path, all))
		e.also = append(e.also, fmt.Sprintf("%s has all of %s then", name, all))
	case strings.HasSuffix(path, "/S"): // of an attribute of DynamoDB, which may be empty
		e.replace(at, "{% '' & "+read.path+" %}")
		e.also = append(e.also, strings.ReplaceAll(path, "/", ".")+" is an empty text then")
	default:
		return false
	}
	return true
}

// isMessage tells whether an argument is a text for people, or for whoever reads a queue.
func isMessage(resource, name string) bool {
	return slices.Contains([]string{"sns Message", "sqs MessageBody"}, asl.ParseResource(resource).ServiceName()+" "+name)
}

// rootOf is the input, the result or the variable that a path begins with.
func rootOf(path string) string {
	steps := strings.Split(path, ".")
	n := 1
	if steps[0] == "$states" {
		n = min(2, len(steps))
	}
	return strings.Join(steps[:n], ".")
}

// reasonAbsent says why fix has nothing to put in the place of a member.
func (c *checked) reasonAbsent(f lint.Finding) string {
	s := c.stateAt(f)
	if s.Task != nil {
		r := asl.ParseResource(s.Task.Resource)
		path, isArgument := strings.CutPrefix(f.Pointer, s.Position.Pointer+"/Arguments/")
		if isArgument && c.options.Types.NeedsArgument(s, path) {
			return fmt.Sprintf("%s:%s needs %s: put a Choice in front of %q that leads an answer without the member to your failure",
				r.ServiceName(), r.Action, strings.ReplaceAll(path, "/", "."), s.Name)
		}
	}
	return "only you know what to use where the member is not there: look first whether it is, by IsPresent in a Choice or $exists in JSONata, " +
		"or read it only behind a rule for a status that has it"
}

// passedFailure is the status of a job that failed, with which the execution broke and succeeds
// now; empty for none.
func (c *checked) passedFailure(report *trial.Report) string {
	for i := range report.Runs {
		r := &report.Runs[i]
		if !r.Before.IsBroken() || !succeeds(r) {
			continue
		}
		for _, k := range r.Kinds {
			if (k.Sort == trial.Status || k.Sort == trial.Bare) && c.means(k, lint.MeansFailure) {
				return k.Value
			}
		}
	}
	return ""
}

// means tells whether an answer says that of the job: by a row of its loop's table, or by the
// catalogue where there is no table.
func (c *checked) means(k trial.Kind, what lint.Meaning) bool {
	return slices.ContainsFunc(c.loops, func(l lint.Loop) bool {
		switch {
		case l.Poll == nil || l.Poll.Name != k.Task:
			return false
		case l.Rows == nil:
			if l.Entry == nil || l.Entry.Job == nil {
				return false
			}
			ends := map[lint.Meaning][]string{lint.MeansSuccess: l.Entry.Job.Success, lint.MeansFailure: l.Entry.Job.Failure}
			return slices.Contains(ends[what], k.Value)
		}
		return slices.ContainsFunc(l.Rows, func(row lint.Row) bool {
			return row.Meaning == what && !row.Partial && slices.Contains(row.Values, k.Value)
		})
	})
}
