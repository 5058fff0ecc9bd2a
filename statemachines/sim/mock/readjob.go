package mock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// job reads a job whose describe call, or whose ".sync" Task, has the name.
func (r *reader) job(name string, n *jsontree.Node) {
	if !r.object(n, "runs, status, running and ends") {
		return
	}
	before := len(r.problems)
	r.members(n, namesOf(jobForm{})...)
	if n.Get("runs") == nil {
		r.add(n.Problem("the member %q is missing", "runs"))
	}
	read := Job{
		Spread: r.spread(n, "runs"), Throttled: r.share(n, "throttle"), Answer: r.answer(n, "answer"), Answers: r.answersOf(n, "answers"),
		Status: r.text(n, "status", n.Get("answers") == nil), Running: r.text(n, "running", true), Ends: r.text(n, "ends", true),
		StartTime: r.text(n, "startTime", false), EndTime: r.text(n, "endTime", false), EpochTimes: r.flag(n, "epochTimes"),
		Stopped: r.text(n, "stopped", false), Raises: r.raised(n, "raises"), Echoes: r.echoes(n, "echoes"), Fails: r.texts(n, "fails"),
		StartEchoes: r.echoes(n, "startEchoes"), DescribeEchoes: r.echoes(n, "describeEchoes"),
		Part: r.text(n, "part", false),
		ID:   r.text(n, "id", false), IDArgument: r.text(n, "idArgument", false), StopIDArgument: r.text(n, "stopIdArgument", false), IDs: r.text(n, "ids", false),
		StartAnswer: r.answer(n, "startAnswer"), StartID: r.text(n, "startId", false), StartIDArgument: r.text(n, "startIdArgument", false),
		StartNameArgument: r.text(n, "startNameArgument", false), Name: r.text(n, "name", false),
		StopAnswer: r.answer(n, "stopAnswer"), NotFound: r.text(n, "notFound", false), Exists: r.flag(n, "exists"),
		Before: r.text(n, "before", false), Courses: r.courses(n, "start"),
	}
	config := jobConfig{describe: append([]string{name}, r.calls(n, "describe")...), start: r.calls(n, "start"), stop: r.calls(n, "stop")}
	config.job = func() *Job {
		return &Job{
			Spread: read.Spread, Throttled: read.Throttled, Courses: read.Courses, Answer: read.Answer, Answers: read.Answers,
			Status: read.Status, StartTime: read.StartTime, EndTime: read.EndTime, EpochTimes: read.EpochTimes, Running: read.Running, Ends: read.Ends,
			Stopped: read.Stopped, Raises: read.Raises, Echoes: read.Echoes, StartEchoes: read.StartEchoes, DescribeEchoes: read.DescribeEchoes,
			Fails: read.Fails, Part: read.Part,
			ID: read.ID, IDArgument: read.IDArgument, StopIDArgument: read.StopIDArgument, IDs: read.IDs,
			StartAnswer: read.StartAnswer, StartID: read.StartID, StartIDArgument: read.StartIDArgument,
			StartNameArgument: read.StartNameArgument, Name: read.Name, StopAnswer: read.StopAnswer, NotFound: read.NotFound, Exists: read.Exists, Before: read.Before,
		}
	}
	if len(r.problems) > before {
		return
	}
	if err := config.job().Check(); err != nil {
		r.add(n.Problem("%s", strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	r.config.jobs = append(r.config.jobs, config)
}

// spread reads how long jobs run: seconds, or the text of a spread.
func (r *reader) spread(n *jsontree.Node, name string) Spread {
	m := n.Get(name)
	if m == nil {
		return Spread{}
	}
	if m.Kind != jsontree.String {
		return Exactly(r.seconds(n, name))
	}
	s, err := ParseSpread(m.Text)
	if err != nil {
		r.add(m.Problem("%s", err))
	}
	return s
}

// share reads a share such as "5%".
func (r *reader) share(n *jsontree.Node, name string) float64 {
	m := n.Get(name)
	if m == nil {
		return 0
	}
	share, err := ParseShare(m.Text)
	if m.Kind != jsontree.String || err != nil {
		r.add(m.Problem("%q must be a share such as \"5%%\", found %s", name, m.Describe()))
	}
	return share
}

// ParseShare reads a share: "5%" is 0.05.
func ParseShare(text string) (float64, error) {
	const whole = 100
	digits, ok := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(share >= 0 && share <= whole) {
		return 0, badShare(text)
	}
	return share / whole, nil
}

// texts reads a text or a list of texts.
func (r *reader) texts(n *jsontree.Node, name string) []string {
	m := n.Get(name)
	switch {
	case m == nil:
		return nil
	case m.Kind == jsontree.String:
		return []string{m.Text}
	case m.Kind != jsontree.Array || slices.ContainsFunc(m.Items, func(item *jsontree.Node) bool { return item.Kind != jsontree.String }):
		r.add(m.Problem("%q must be a string or a list of strings, found %s", name, m.Describe()))
		return nil
	}
	var all []string
	for _, item := range m.Items {
		all = append(all, item.Text)
	}
	return all
}

// calls reads the states or resources of a call of a job, which nothing else may
// answer. Those of a start call may have courses of their own.
func (r *reader) calls(n *jsontree.Node, name string) []string {
	m := n.Get(name)
	if m == nil {
		return nil
	}
	var names []string
	if m.Kind == jsontree.Object && name == "start" {
		for _, course := range m.Members {
			names = append(names, course.Name)
		}
	} else {
		names = r.texts(n, name)
	}
	for _, target := range names {
		if r.answered[target] {
			r.add(m.Problem("this file has another answer for %q", target))
		}
		r.answered[target] = true
	}
	return names
}

// courses reads those of the states that start a job.
func (r *reader) courses(n *jsontree.Node, name string) map[string]Course {
	m := n.Get(name)
	if m == nil || m.Kind != jsontree.Object {
		return nil
	}
	all := map[string]Course{}
	for _, c := range m.Members {
		if !r.object(c.Value, "runs and ends") {
			continue
		}
		r.members(c.Value, namesOf(courseForm{})...)
		if c.Value.Get("runs") == nil {
			r.add(c.Value.Problem("the member %q is missing", "runs"))
		}
		all[c.Name] = Course{
			Spread: r.spread(c.Value, "runs"), Running: r.text(c.Value, "running", false), Ends: r.text(c.Value, "ends", false), Answer: r.answer(c.Value, "answer"),
		}
	}
	return all
}

func (r *reader) answer(n *jsontree.Node, name string) map[string]any {
	answer := n.Get(name)
	if answer == nil || !r.object(answer, "the members of the answer") {
		return nil
	}
	return answer.Value().(map[string]any)
}

// raised reads the errors of statuses.
func (r *reader) raised(n *jsontree.Node, name string) map[string]Raised {
	m := n.Get(name)
	if m == nil || !r.object(m, "the error of each status") {
		return nil
	}
	all := map[string]Raised{}
	for _, status := range m.Members {
		if r.object(status.Value, "error and cause") {
			r.members(status.Value, namesOf(failForm{})...)
			all[status.Name] = Raised{Error: r.text(status.Value, "error", true), Cause: r.text(status.Value, "cause", false)}
		}
	}
	return all
}

// echoes reads the places of an answer by those of the arguments.
func (r *reader) echoes(n *jsontree.Node, name string) map[string]string {
	m := n.Get(name)
	if m == nil || !r.object(m, "a path of the answer for each path of the arguments") {
		return nil
	}
	all := map[string]string{}
	for _, echo := range m.Members {
		all[echo.Name] = r.text(m, echo.Name, true)
	}
	return all
}

// answersOf reads the answers of statuses.
func (r *reader) answersOf(n *jsontree.Node, name string) map[string]any {
	answers := n.Get(name)
	if answers == nil || !r.object(answers, "the answer of each status") {
		return nil
	}
	all := map[string]any{}
	for _, m := range answers.Members {
		all[m.Name] = m.Value.Value()
	}
	return all
}
