package asl

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Parse reads a state machine definition. Its error is a [diag.Problems] with
// everything that AWS would refuse, and with the placeholders, as warnings, that stand
// for a part without which nothing can be said, such as a state. What is only suspicious it lets pass: see
// Validate. Integrations that AWS added since this package was made are newer: what
// follows ":::" in their ARN, such as "dynamodb:query" or
// "glue:startJobRun.waitForTaskToken".
func Parse(text []byte, newer ...string) (*StateMachine, error) {
	p := newParser(newer, false)
	m, problems := p.read(text)
	if err := append(onlyErrors(problems), p.hollow...).Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// ParseDeployed reads a definition that AWS has, as Parse does: what looks like a placeholder
// is a text there, which no deployment fills in any more.
func ParseDeployed(text []byte, newer ...string) (*StateMachine, error) {
	p := newParser(newer, false)
	p.deployed = true
	m, problems := p.read(text)
	if err := onlyErrors(problems).Err(); err != nil {
		return nil, err
	}
	m.Deployed = true
	return m, nil
}

// LoneState is the name of the state that ParseState reads.
const LoneState = "StateName"

// ParseState reads the definition of one state, as AWS's TestState takes it, as
// a state machine that has only this state, with the name LoneState. The states
// it leads to are not there. Its error is that of Parse, with pointers that
// start with "/States/StateName".
func ParseState(text []byte) (*StateMachine, error) {
	if _, err := jsontree.Parse(text); err != nil {
		return nil, err
	}
	// The state starts on a line of its own, which is not one of its text.
	whole := slices.Concat([]byte(`{"StartAt": "`+LoneState+`", "States": {"`+LoneState+"\":\n"), text, []byte("\n}}"))
	m, problems := newParser(nil, true).read(whole)
	problems = onlyErrors(problems)
	for i := range problems {
		problems[i].Line = max(problems[i].Line-1, 1)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

func onlyErrors(problems diag.Problems) diag.Problems {
	return slices.DeleteFunc(problems, func(p diag.Problem) bool { return p.Severity != diag.Error })
}

// Validate returns everything that is wrong or suspicious in a definition, in
// the order of the text; nil if there is nothing. A definition with no problem
// of severity Error is one that Parse takes. As an Express workflow, the definition
// may not wait for jobs, tokens or activities. For newer see Parse.
func Validate(text []byte, as ExecutionType, newer ...string) diag.Problems {
	return newParser(newer, false).validate(text, as)
}

// ValidateDeployed returns that of a definition that AWS has: see ParseDeployed.
func ValidateDeployed(text []byte, as ExecutionType, newer ...string) diag.Problems {
	p := newParser(newer, false)
	p.deployed = true
	return p.validate(text, as)
}

func (p *parser) validate(text []byte, as ExecutionType) diag.Problems {
	m, problems := p.read(text)
	if as == Express && m != nil && p.hollow == nil {
		problems = append(problems, ExpressProblems(m)...)
	}
	problems = append(problems, p.hollow...)
	sorted, _ := problems.Err().(diag.Problems) //nolint:errorlint // Err returns the type itself
	return sorted
}

func newParser(newer []string, alone bool) *parser {
	p := &parser{newer: newer, alone: alone}
	p.readFlow = p.flow
	return p
}

func (p *parser) read(text []byte) (*StateMachine, diag.Problems) {
	if len(text) > MaxDefinitionBytes {
		return nil, diag.Problems{diag.At(text, MaxDefinitionBytes, "",
			fmt.Sprintf("a definition has at most %d bytes, found %d", MaxDefinitionBytes, len(text)))}
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		notJSON := err.(diag.Problems) //nolint:errorlint,forcetypeassert // what Parse documents
		if bare := bareProblems(text, notJSON); bare != nil {
			return nil, bare
		}
		return nil, notJSON
	}
	p.machine = &StateMachine{root: doc.Root, text: text, canonical: &canonical{}, places: map[string]*State{}}
	p.text, p.names, p.labels = text, map[string]bool{}, map[string]bool{}
	p.definition(doc.Root)
	return p.machine, p.problems
}

func (p *parser) definition(n *jsontree.Node) {
	o := p.open(n, "a state machine definition")
	if o == nil {
		return
	}
	m := p.machine
	m.Comment = o.text("Comment")
	if v := o.ofKind("Version", jsontree.String); v != nil && !p.placeholder(v, false) {
		if m.Version = v.Text; v.Text != "1.0" {
			p.add(v.Problem("expected the version \"1.0\", found %s", v.Describe()))
		}
	}
	m.QueryLanguage = p.queryLanguage(o, JSONPath)
	if p.hollow != nil {
		return
	}
	m.TimeoutSeconds = o.integer("TimeoutSeconds", 0, MaxSeconds, 0)
	m.OpenTimeout = o.node.Get("TimeoutSeconds") != nil && p.placeholder(o.node.Get("TimeoutSeconds"), true)
	p.scope = newScope(nil)
	p.flow(o, &m.Flow)
	if p.hollow != nil {
		o.close()
		return
	}
	if !p.endless {
		p.problems = append(p.problems, p.unreachable...)
	}
	p.checkVariables(p.scope)
	for s := range m.All {
		if s.Map != nil && s.Map.Distributed && s.Map.ExecutionType == Express {
			p.problems = append(p.problems, m.expressProblems(s.Map.Processor)...)
		}
	}
	o.close()
}
