package kit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// JobReader reads what the answers of a describe call say of a job: its status, and
// its message where the model has one. The zero value reads nothing.
type JobReader struct {
	status, message *jmespath.Program
}

// NewJobReader returns a reader for a job or waiter of the catalogue.
func NewJobReader(e *catalog.Entry) JobReader {
	var status, message string
	if e.Job != nil {
		status, message = e.Job.Status, e.Job.Message
	}
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher.Output; m != nil && a.State == pollcore.Success && m.Comparator != pollcore.BooleanEquals {
			status = cmp.Or(status, m.Path)
		}
		message = cmp.Or(message, a.Message)
	}
	if message == "" {
		message = messageOfJob(e)
	}
	return JobReader{compilePath(status), compilePath(message)}
}

// messageOfJob is the message of a job that the same operation describes, of each
// resource in the answer; empty if there is none.
func messageOfJob(e *catalog.Entry) string {
	for _, name := range slices.Sorted(maps.Keys(e.Service.Jobs)) {
		if j := e.Service.Jobs[name]; j.Describe == e.Operation.Name && j.Message != "" {
			return strings.ReplaceAll(j.Message, "[0]", "[]")
		}
	}
	return ""
}

// compilePath returns nil for no expression.
func compilePath(text string) *jmespath.Program {
	if text == "" {
		return nil
	}
	expression, err := jmespath.Parse(text)
	if err != nil {
		return nil // the catalogue's are valid
	}
	program, _ := expression.Compile(nil)
	return program
}

// Read reads an answer, in the model's spelling.
func (r JobReader) Read(answer any) (status, message string) {
	return evalText(r.status, answer), evalText(r.message, answer)
}

// Explain adds to the reason of a verdict what the service says: the message of an
// error, or why a job has failed.
func (r JobReader) Explain(reason string, verdict pollcore.Verdict, answer any, err error) string {
	said := ""
	if err != nil {
		said = NewCallError(err).Says()
	} else if verdict == pollcore.Failure {
		_, said = r.Read(answer)
	}
	if said == "" || strings.Contains(reason, said) {
		return reason
	}
	return reason + ": " + said
}

// evalText is the text that an expression gives, or the texts of its list, each
// once. What is no text says nothing.
func evalText(p *jmespath.Program, answer any) string {
	if p == nil {
		return ""
	}
	value, err := p.Eval(answer)
	if err != nil {
		return ""
	}
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	var texts []string
	for _, item := range list {
		if text, ok := item.(string); ok && text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}
