package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	community "github.com/jmespath-community/go-jmespath"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// catalogJobSuites compare the table of jobs with the models. They share no code with the
// importer, and another library evaluates the expressions.
var catalogJobSuites = []suite{
	{name: "catalog-jobs", cases: 243 * len(jobChecks), run: runCatalogJobs},
}

// rowOfJobs has the members of a job in sources/jobs.json that the suite reads.
type rowOfJobs struct {
	Service    string            `json:"service"`
	Start      string            `json:"start"`
	Describe   string            `json:"describe"`
	Arguments  map[string]string `json:"arguments"`
	Status     string            `json:"status"`
	Success    []string          `json:"success"`
	Failure    []string          `json:"failure"`
	Running    []string          `json:"running"`
	Documented bool              `json:"documented"`
	Acceptors  []struct {
		Matcher struct {
			Output struct {
				Path       string `json:"path"`
				Expected   string `json:"expected"`
				Comparator string `json:"comparator"`
			} `json:"output"`
		} `json:"matcher"`
	} `json:"acceptors"`
	Stop *struct {
		Operation string            `json:"operation"`
		Arguments map[string]string `json:"arguments"`
		Statuses  []string          `json:"statuses"`
	} `json:"stop"`
	StartTime   string `json:"startTime"`
	EndTime     string `json:"endTime"`
	TimesSource string `json:"timesSource"`
}

// jobChecks are the cases of each job. The operations are nil if the model lacks them.
var jobChecks = map[string]func(row rowOfJobs, start, describe, stop *catalog.Operation) error{
	"start": func(row rowOfJobs, start, _, _ *catalog.Operation) error {
		if start == nil {
			return fmt.Errorf("the model has no operation %q", row.Start)
		}
		return nil
	},
	"describe": func(row rowOfJobs, start, describe, _ *catalog.Operation) error {
		return checkCallOfJob(row.Describe, row.Arguments, start, describe)
	},
	"stop": func(row rowOfJobs, start, _, stop *catalog.Operation) error {
		if row.Stop == nil {
			return nil
		}
		for _, status := range row.Stop.Statuses {
			if row.Acceptors == nil && !slices.Contains(row.Failure, status) {
				return fmt.Errorf("the status %q of a stopped job is no failure", status)
			}
		}
		return checkCallOfJob(row.Stop.Operation, row.Stop.Arguments, start, stop)
	},
	"statuses": func(row rowOfJobs, _, describe, _ *catalog.Operation) error { return checkStatusesOfJob(row, describe) },
	"startTime": func(row rowOfJobs, _, describe, _ *catalog.Operation) error {
		return checkTimeOfJob(row, row.StartTime, describe)
	},
	"endTime": func(row rowOfJobs, _, describe, _ *catalog.Operation) error {
		return checkTimeOfJob(row, row.EndTime, describe)
	},
}

func runCatalogJobs(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	for _, row := range rowsOfJobs(t) {
		r.total += len(jobChecks)
		for what, err := range row.check(t) {
			r.failures[row.Service+" "+row.Start+": "+what] = err.Error()
		}
	}
	return r
}

func rowsOfJobs(t *testing.T) []rowOfJobs {
	t.Helper()
	text, err := os.ReadFile("../../pollcore/catalog/sources/jobs.json")
	require.NoError(t, err)
	var rows []rowOfJobs
	require.NoError(t, json.Unmarshal(text, &rows))
	return rows
}

// check returns what is wrong with a job, by the names of the checks.
func (row rowOfJobs) check(t *testing.T) map[string]error {
	t.Helper()
	service, err := models.Load(row.Service)
	require.NoError(t, err)
	var stop *catalog.Operation
	if row.Stop != nil {
		stop = service.Operations[row.Stop.Operation]
	}
	found := map[string]error{}
	for what, check := range jobChecks {
		if err := check(row, service.Operations[row.Start], service.Operations[row.Describe], stop); err != nil {
			found[what] = err
		}
	}
	return found
}

// The checks find a wrong operation, argument, status and time in each row that has one.
func TestWrongRowsOfJobs(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for _, row := range rowsOfJobs(t) {
		change := func(what string, edit func(row *rowOfJobs)) {
			other := row
			other.Arguments = maps.Clone(row.Arguments)
			edit(&other)
			require.Contains(t, other.check(t), what, "%s %s", row.Service, row.Start)
			found[what]++
		}
		change("start", func(r *rowOfJobs) { r.Start = "Not" + r.Start })
		for argument := range row.Arguments {
			change("describe", func(r *rowOfJobs) { r.Arguments[argument] = "output.Nothing" })
		}
		if row.Stop != nil {
			change("stop", func(r *rowOfJobs) {
				other := *r.Stop
				other.Arguments = map[string]string{"nothing": "output.Nothing"}
				r.Stop = &other
			})
		}
		if len(row.Running) > 0 && !row.Documented {
			change("statuses", func(r *rowOfJobs) { r.Running = r.Running[1:] })
		}
		if row.StartTime != "" {
			change("startTime", func(r *rowOfJobs) { r.StartTime += "s" })
		}
		if row.EndTime != "" {
			change("endTime", func(r *rowOfJobs) { r.EndTime += "s" })
		}
	}
	require.Len(t, found, len(jobChecks))
}

// checkCallOfJob compares the arguments of a call about a job with its input: they are
// members of it, the required ones are among them, and each has a value of its form where
// the start call has all members.
func checkCallOfJob(name string, arguments map[string]string, start, call *catalog.Operation) error {
	if call == nil || start == nil {
		return fmt.Errorf("the model has no operation %q", name)
	}
	s := sample{leaves: map[string]*catalog.Shape{}}
	given := map[string]any{"input": s.value(start.Input), "output": s.value(start.Output)}
	members := map[string]*catalog.Shape{}
	if call.Input != nil {
		for _, m := range call.Input.Members {
			members[m.Name] = m.Shape
			if (m.Required || m.In == catalog.InPath) && arguments[m.Name] == "" {
				return fmt.Errorf("%s needs %s", name, m.Name)
			}
		}
	}
	aboutJob := false
	for argument, expression := range arguments {
		value, err := community.Search(expression, given)
		switch {
		case members[argument] == nil:
			return fmt.Errorf("%s has no member %s", name, argument)
		case err != nil:
			return fmt.Errorf("%s: %w", argument, err)
		case value == nil:
			return fmt.Errorf("%s: %q gives nothing", argument, expression)
		case !hasForm(value, members[argument].Type):
			return fmt.Errorf("%s: %q gives %v, expected a %s", argument, expression, value, members[argument].Type)
		}
		aboutJob = aboutJob || strings.Contains(expression, "input.") || strings.Contains(expression, "output.")
	}
	if !aboutJob && len(members) > 0 { // without members it tells of the one of the account
		return errors.New("no argument is of the start call")
	}
	return nil
}

// hasForm tells whether a value is a list, an object or neither as a type is.
func hasForm(value any, of catalog.ShapeType) bool {
	_, list := value.([]any)
	_, object := value.(map[string]any)
	return list == (of == catalog.List) && object == (of == catalog.Structure || of == catalog.Union || of == catalog.Map)
}

// checkStatusesOfJob wants a verdict for each value of the model's enum, and for no other.
func checkStatusesOfJob(row rowOfJobs, describe *catalog.Operation) error {
	s := sample{leaves: map[string]*catalog.Shape{}}
	answer := s.value(describe.Output)
	if row.Acceptors != nil {
		return s.checkAcceptors(row, answer)
	}
	shape, err := s.leaf(row.Status, answer)
	if err != nil {
		return err
	}
	judged := slices.Sorted(slices.Values(slices.Concat(row.Success, row.Failure, row.Running)))
	if len(slices.Compact(slices.Clone(judged))) != len(judged) {
		return fmt.Errorf("a value is in two sets: %v", judged)
	}
	switch {
	case len(row.Success) == 0 || len(judged) == len(row.Success):
		return errors.New("no success, or nothing else")
	case len(shape.Enum) == 0 && !row.Documented:
		return fmt.Errorf("%s has no enum, and the row does not say that the values are documented", row.Status)
	case len(shape.Enum) > 0 && !slices.Equal(judged, slices.Sorted(slices.Values(shape.Enum))):
		return fmt.Errorf("%s has the values %v, judged are %v", row.Status, shape.Enum, judged)
	}
	return nil
}

var comparison = regexp.MustCompile(`([\w.\[\]]+) == '([^']*)'`)

// checkAcceptors wants each value of the member that the most acceptors compare.
func (s *sample) checkAcceptors(row rowOfJobs, answer any) error {
	compared := map[string][]string{} // values by path
	for _, a := range row.Acceptors {
		output := a.Matcher.Output
		if strings.HasSuffix(output.Comparator, "tringEquals") {
			compared[output.Path] = append(compared[output.Path], output.Expected)
		}
		for _, found := range comparison.FindAllStringSubmatch(output.Path, -1) {
			compared[found[1]] = append(compared[found[1]], found[2])
		}
	}
	var judged []string
	var status *catalog.Shape
	for _, path := range slices.Sorted(maps.Keys(compared)) {
		values := slices.Compact(slices.Sorted(slices.Values(compared[path])))
		if len(values) <= len(judged) {
			continue
		}
		if shape, err := s.leaf(path, answer); err == nil {
			status, judged = shape, values
		}
	}
	if status == nil {
		return errors.New("no acceptor compares a member of the answer")
	}
	if len(status.Enum) > 0 && !slices.Equal(judged, slices.Sorted(slices.Values(status.Enum))) {
		return fmt.Errorf("%s has the values %v, judged are %v", status.Name, status.Enum, judged)
	}
	return nil
}

// checkTimeOfJob wants a time at a path of the answer.
func checkTimeOfJob(row rowOfJobs, path string, describe *catalog.Operation) error {
	if path == "" {
		return nil
	}
	s := sample{leaves: map[string]*catalog.Shape{}}
	shape, err := s.leaf(path, s.value(describe.Output))
	if err != nil {
		return err
	}
	if shape.Type != catalog.Timestamp && row.TimesSource == "" {
		return fmt.Errorf("%s is a %s, and nothing says that it is a time", path, shape.Type)
	}
	return nil
}

// sample makes a value that has all members, with a text of its own for each scalar.
type sample struct {
	leaves map[string]*catalog.Shape
	within []*catalog.Shape
}

func (s *sample) value(of *catalog.Shape) any {
	if of == nil || slices.Contains(s.within, of) {
		return nil
	}
	s.within = append(s.within, of)
	defer func() { s.within = s.within[:len(s.within)-1] }()
	switch of.Type {
	case catalog.Structure, catalog.Union:
		object := map[string]any{}
		for _, m := range of.Members {
			object[m.Name] = s.value(m.Shape)
		}
		return object
	case catalog.List:
		return []any{s.value(of.Element.Shape)}
	case catalog.Map:
		return map[string]any{"key": s.value(of.Element.Shape)}
	default:
		name := fmt.Sprintf("leaf %d", len(s.leaves))
		s.leaves[name] = of
		return name
	}
}

// leaf is the shape of the scalar at a path of a sample.
func (s *sample) leaf(path string, in any) (*catalog.Shape, error) {
	value, err := community.Search(path, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if list, ok := value.([]any); ok && len(list) == 1 {
		value = list[0]
	}
	name, _ := value.(string)
	if s.leaves[name] == nil {
		return nil, fmt.Errorf("%s gives no scalar of the answer", path)
	}
	return s.leaves[name], nil
}
