package catalog

import (
	"fmt"
	"slices"
)

// ListCall is the call that lists past jobs, page by page, with the times at which the
// service took each and at which it ended.
type ListCall struct {
	Operation string `json:"operation"`
	// Arguments are members of Operation's input that are the same for all callers,
	// each a JMESPath expression without input: such as the newest jobs first, or
	// those of the account alone. The caller may give others.
	Arguments map[string]string `json:"arguments,omitempty"`
	// Needs are members that the service wants besides those that the model requires.
	Needs []string `json:"needs,omitempty"`
	// Items is the path of the list in the answer. Where are values that an item
	// has if it is such a job, by their paths in it; empty if all are.
	Items string              `json:"items"`
	Where map[string][]string `json:"where,omitempty"`
	// Start and End are the paths of the times in an item. They are empty where items
	// do not have both.
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
	// Describe are the arguments of the job's describe call, which has the times where
	// items do not: each a JMESPath expression over {"input": …, "item": …}, the
	// input of Operation and an item.
	Describe map[string]string `json:"describe,omitempty"`
	// Token is the member of the input that asks for the next page, and Next the
	// member of the answer that has its value; empty if Next has the same name. There
	// is one page alone if Token is empty.
	Token string `json:"token,omitempty"`
	Next  string `json:"next,omitempty"`
}

// Constants are the members of the input that are the same for all callers.
func (l *ListCall) Constants() (map[string]any, error) {
	return evaluateAll(l.Arguments, map[string]any{})
}

// ReadItems returns the jobs of a page: what is listed, without what Where rules out.
func (l *ListCall) ReadItems(answer any) ([]any, error) {
	found, err := search(l.Items, answer)
	if err != nil {
		return nil, err
	}
	list, isList := found.([]any)
	if !isList && found != nil {
		return nil, fmt.Errorf("the answer of %s has no list at %s", l.Operation, l.Items)
	}
	var items []any
	for _, item := range list {
		isJob := true
		for path, values := range l.Where {
			value, err := search(path, item)
			if err != nil {
				return nil, err
			}
			text, _ := value.(string)
			isJob = isJob && slices.Contains(values, text)
		}
		if isJob {
			items = append(items, item)
		}
	}
	return items, nil
}

// NextPage returns the value of Token that asks for the page after an answer; empty if
// that was the last.
func (l *ListCall) NextPage(answer any) string {
	object, isObject := answer.(map[string]any)
	if l.Token == "" || !isObject {
		return ""
	}
	name := l.Next
	if name == "" {
		name = l.Token
	}
	token, _ := object[name].(string)
	return token
}

// DescribeInput returns the input of the describe call for an item. A member without a
// value is left out.
func (l *ListCall) DescribeInput(input map[string]any, item any) (map[string]any, error) {
	return evaluateAll(l.Describe, map[string]any{"input": input, "item": item})
}

// evaluateAll evaluates expressions on a value, and leaves out what is null.
func evaluateAll(expressions map[string]string, on any) (map[string]any, error) {
	values := map[string]any{}
	for name, expression := range expressions {
		value, err := search(expression, on)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value != nil {
			values[name] = value
		}
	}
	return values, nil
}

// ListCalls are the operations that list the past jobs of an entry that has a list, and
// describe them where that is needed.
func (e *Entry) ListCalls() []*Operation {
	all := []*Operation{e.Service.Operations[e.Job.List.Operation]}
	switch {
	case e.Job.List.Describe == nil:
	case e.Job.Batch != nil:
		all = append(all, e.Service.Operations[e.Job.Batch.Operation])
	default:
		all = append(all, e.Operation)
	}
	return all
}
