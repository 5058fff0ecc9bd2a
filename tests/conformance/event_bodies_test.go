package conformance_test

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// eventsOf returns the events of the job that the describe call's input selects, as the
// catalogue describes them: one for each part of the job.
func eventsOf(e *catalog.Event, asked map[string]any, ended bool) []map[string]any {
	ids, err := e.JobIDs(asked)
	if err != nil {
		panic(err) // each job has ids
	}
	status := "SOMETHING_ELSE"
	if ended {
		status = slices.Concat(e.Success, e.Failure, e.Ended)[0]
	}
	var all []map[string]any
	for _, id := range ids {
		if e.After != "" {
			id = "arn:aws:service:us-east-1:123456789012:job" + e.After + id
		}
		body := map[string]any{"version": "0", "source": e.Source, "detail-type": e.DetailTypes[0], "detail": map[string]any{}}
		put := func(path, value string) { putAt(body, path, value) }
		for path, values := range e.Where {
			put(path, values[0])
		}
		if e.Status != `"detail-type"` { // which is one of the detail-types
			put(e.Status, status)
		}
		put(e.ID, id)
		all = append(all, body)
	}
	return all
}

// putAt puts a value at a path, such as detail."build-id" or resources[0].
func putAt(object map[string]any, path, value string) {
	steps := strings.Split(path, ".")
	for i, step := range steps {
		name := strings.Trim(step, `"`)
		list := strings.TrimSuffix(name, "[0]")
		switch {
		case i == len(steps)-1 && list != name:
			object[list] = []any{value}
		case i == len(steps)-1:
			object[name] = value
		default:
			inner, ok := object[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				object[name] = inner
			}
			object = inner
		}
	}
}
