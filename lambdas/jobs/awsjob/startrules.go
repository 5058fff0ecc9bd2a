package awsjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// startRules are what the catalogue asks of a start call's arguments besides their
// types.
type startRules struct {
	name     string // the member that has the job's name; empty if the caller names it
	jsonText []string
	forms    map[string]form
}

type form struct {
	*regexp.Regexp

	expected string
}

func newStartRules(job *catalog.Job) (*startRules, error) {
	rules := &startRules{jsonText: job.JSONText, forms: map[string]form{}}
	if job.NaturalKey != nil {
		rules.name = job.NaturalKey.Member
	}
	for member, f := range job.Forms {
		pattern, err := regexp.Compile(f.Pattern)
		if err != nil {
			return nil, fmt.Errorf("form of %s: %w", member, err)
		}
		rules.forms[member] = form{pattern, f.Expected}
	}
	return rules, nil
}

// read reads a member that has a rule of its own. It returns false if it has none.
func (s *startRules) read(r *jsontree.Reader, member string, n *jsontree.Node) bool {
	if s == nil {
		return false
	}
	if slices.Contains(s.jsonText, member) {
		if n.Kind == jsontree.String && !json.Valid([]byte(n.Text)) {
			r.Report(n.Problem("expected JSON text in the string, found other text; remove the quotes to pass a JSON value as it is"))
		}
		return true
	}
	if f, ok := s.forms[member]; ok && n.Kind == jsontree.String && !f.MatchString(n.Text) {
		r.Report(n.Problem("expected %s, found other text", diag.Word(f.expected)))
		return true
	}
	return false
}

// precondition is a call that tells whether a start call may be made.
type precondition struct {
	*catalog.Precondition

	call *call
	path *jmespath.Program
}

func newPrecondition(d *job, client *Client) (*precondition, error) {
	of := d.entry.Job.Precondition
	if of == nil {
		return nil, nil //nolint:nilnil // most jobs have none
	}
	p := &precondition{Precondition: of}
	var err error
	if p.call, err = d.prepare(client, of.Operation); err != nil {
		return nil, err
	}
	if p.path, err = program(of.Path); err != nil {
		return nil, fmt.Errorf("%s: path of %s: %w", d.name, of.Operation, err)
	}
	return p, nil
}

// check returns an error that wraps jobs.ErrArguments if the job must not be
// started.
func (p *precondition) check(ctx context.Context, name string, start *input) error {
	arguments := jobs.Ref{}
	for member, template := range p.Arguments {
		value, err := start.fill(template)
		if err != nil {
			return fmt.Errorf("%w of %s: %w", jobs.ErrArguments, name, err)
		}
		arguments[javasdk.MemberName(member)] = value
	}
	in, err := p.call.fromRef(name, arguments)
	if err != nil {
		return err
	}
	out, err := p.call.do(ctx, in, modelSpelling)
	if err != nil {
		return err
	}
	if value, err := p.path.Eval(out); err == nil && value == p.Refused {
		return fmt.Errorf("%w of %s: %s", jobs.ErrArguments, name, p.Reason)
	}
	return nil
}

// refOfName is the reference of the job that has the name of a start call's input.
func (d *job) refOfName(in *input) (jobs.Ref, error) {
	ref := jobs.Ref{}
	for member, template := range d.entry.Job.NaturalKey.Arguments {
		value, err := in.fill(template)
		if err != nil {
			return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, d.name, err)
		}
		ref[javasdk.MemberName(member)] = value
	}
	return ref, nil
}

// placeholder is ${member} or ${member:n} in a template.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(\w+)(?::(\d+))?\}`) })

// fill returns a template with the members of the input.
func (in *input) fill(template string) (string, error) {
	values := in.value()
	var lacks error
	text := placeholder().ReplaceAllStringFunc(template, func(found string) string {
		part := placeholder().FindStringSubmatch(found)
		value, ok := values[part[1]].(string)
		if ok && part[2] != "" {
			parts := strings.Split(value, ":")
			n, err := strconv.Atoi(part[2])
			if ok = err == nil && n < len(parts); ok {
				value = parts[n]
			}
		}
		if !ok {
			lacks = fmt.Errorf("%s does not have the form that the job's name needs", in.spell(part[1]))
		}
		return value
	})
	return text, lacks
}

// refusal reads the answer of a stop call that succeeds whatever becomes of the
// job. Code and message may be nil.
type refusal struct{ when, code, message *jmespath.Program }

func newRefusal(of *catalog.StopRefusal) (*refusal, error) {
	if of == nil {
		return nil, nil //nolint:nilnil // most stop calls have none
	}
	r := &refusal{}
	for _, e := range []struct {
		text string
		to   **jmespath.Program
	}{{of.When, &r.when}, {of.Code, &r.code}, {of.Message, &r.message}} {
		if e.text == "" {
			continue
		}
		var err error
		if *e.to, err = program(e.text); err != nil {
			return nil, fmt.Errorf("answer of the stop call: %w", err)
		}
	}
	return r, nil
}

// check returns the service's error if the job was not stopped.
func (r *refusal) check(answer any) error {
	when, err := r.when.Eval(answer)
	if err != nil || !isTrue(when) {
		return err
	}
	text := func(p *jmespath.Program, otherwise string) string {
		if p != nil {
			if value, err := p.Eval(answer); err == nil {
				if text, ok := value.(string); ok && text != "" {
					return text
				}
			}
		}
		return otherwise
	}
	return &smithy.GenericAPIError{
		Code: text(r.code, "NotStopped"), Message: text(r.message, "the service answered that it did not stop the job"), Fault: smithy.FaultClient,
	}
}

// isTrue tells what JMESPath takes for true.
func isTrue(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	default:
		return true
	}
}

// program compiles an expression over any JSON.
func program(text string) (*jmespath.Program, error) {
	expr, err := jmespath.Parse(text)
	if err != nil {
		return nil, err
	}
	compiled, _ := expr.Compile(nil) // of any JSON there is nothing to find
	return compiled, nil
}

// codeOf is the code of a service's error, or empty.
func codeOf(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

func messageOf(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorMessage()
	}
	return ""
}
