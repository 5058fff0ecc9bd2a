package mock

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Check tells what is wrong with the description of the job.
func (j *Job) Check() error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if j.Runs < 0 {
		report("a job cannot run for %v", j.Runs)
	}
	if j.Throttled < 0 || j.Throttled > 1 {
		report("the share of throttled calls must be from 0 to 1, is %g", j.Throttled)
	}
	if j.Status == "" && j.Answers == nil {
		report("a job needs the path of its status")
	}
	if j.Running == "" || j.Ends == "" {
		report("a job needs its status while it runs, and its status at the end")
	} else if lacks := func(s string) bool { return j.Answers[s] == nil && j.Raises[s] == (Raised{}) }; j.Status == "" && j.Answers != nil &&
		slices.ContainsFunc(j.statuses(), lacks) {
		report("a job without the path of its status needs the answer of each status")
	}
	for _, text := range []string{
		j.Status, j.StartTime, j.EndTime, j.ID, j.IDArgument, j.StopIDArgument, j.StartID, j.StartIDArgument, j.StartNameArgument, j.Name, j.Part,
	} {
		if text == "" {
			continue
		}
		if _, err := parsePath(text); err != nil {
			problems = append(problems, err)
		}
	}
	for _, echoes := range []map[string]string{j.Echoes, j.StartEchoes, j.DescribeEchoes} {
		for from, to := range echoes {
			for _, text := range []string{from, to} {
				if _, err := parsePath(text); err != nil {
					problems = append(problems, err)
				}
			}
		}
	}
	if len(problems) == 0 {
		problems = append(problems, j.checkAnswers())
	}
	return errors.Join(problems...)
}

// statuses are those that the job can have.
func (j *Job) statuses() []string {
	all := []string{j.Running, j.Ends}
	for _, other := range []string{j.Stopped, j.Before} {
		if other != "" {
			all = append(all, other)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.Courses)) {
		for _, status := range []string{j.Courses[name].Running, j.Courses[name].Ends} {
			if status != "" {
				all = append(all, status)
			}
		}
	}
	return all
}

// checkAnswers tells whether the status and the id fit into the answers.
func (j *Job) checkAnswers() error {
	if j.hasIDs() && j.idArgument() == "" {
		return errors.New("a job with an id needs the name of the argument that passes the id")
	}
	const id = "id"
	for _, status := range j.statuses() {
		if _, raises := j.Raises[status]; raises {
			continue
		}
		answer, err := j.answer(id, status)
		if err != nil {
			return err
		}
		if j.Status == "" {
			continue
		}
		if at, _ := parsePath(j.Status); at.get(answer) != status {
			return fmt.Errorf("the id at %q and the status at %q are in the same place", j.ID, j.Status)
		}
	}
	_, err := fill(j.StartAnswer, put{j.StartID, id})
	return err
}

func (j *Job) hasIDs() bool { return j.ID != "" || j.StartID != "" || j.StartIDArgument != "" }

// idArgument is the path of the id in the arguments.
func (j *Job) idArgument() string {
	if j.IDArgument != "" {
		return j.IDArgument
	}
	for _, text := range []string{j.ID, j.StartID, j.StartIDArgument} {
		if p, err := parsePath(text); err == nil && text != "" {
			return p.last()
		}
	}
	return ""
}
