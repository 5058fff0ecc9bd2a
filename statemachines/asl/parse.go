package asl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// parser collects the problems of one definition. An error is what AWS is known to
// refuse: a refusal is recorded, measured or specified, and TestWhatAWSRefuses
// says where. All else is a warning, and the machine runs.
type parser struct {
	text     []byte
	problems diag.Problems
	machine  *StateMachine
	// state is the one being read, and language its query language.
	state    *State
	language QueryLanguage
	// extra is the member that $states has besides input and context.
	extra string
	// references are the values that name a state, checked once all states of
	// the flow are known.
	references []*jsontree.Node
	// names holds every state of the machine read so far.
	names map[string]bool
	// labels holds every label of a Map read so far.
	labels map[string]bool
	// unreachable are the states that no edge leads to. AWS says nothing of them
	// if the machine has no end.
	unreachable diag.Problems
	endless     bool
	scope       *scope
	// newer are integrations that are taken though this package does not know them.
	newer []string
	// alone is set for one state, whose targets are not there.
	alone bool
	// counted is the byte up to which line and column are counted, from 0.
	counted, line, column int
}

// Parse reads a state machine definition. Its error is a Problems with
// everything that AWS would refuse. What is only suspicious it lets pass: see
// Validate. Integrations that AWS added since this package was made are newer: what
// follows ":::" in their ARN, such as "dynamodb:query" or
// "glue:startJobRun.waitForTaskToken".
func Parse(text []byte, newer ...string) (*StateMachine, error) {
	m, problems := (&parser{newer: newer}).read(text)
	if err := onlyErrors(problems).Err(); err != nil {
		return nil, err
	}
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
	m, problems := (&parser{alone: true}).read(whole)
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
func Validate(text []byte, as ExecutionType, newer ...string) Problems {
	m, problems := (&parser{newer: newer}).read(text)
	if as == Express && m != nil {
		problems = append(problems, ExpressProblems(m)...)
	}
	sorted, _ := problems.Err().(diag.Problems) //nolint:errorlint // Err returns the type itself
	return sorted
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
	p.text, p.machine, p.names, p.labels = text, &StateMachine{root: doc.Root}, map[string]bool{}, map[string]bool{}
	p.definition(doc.Root)
	return p.machine, p.problems
}

func (p *parser) add(problem diag.Problem) { p.problems = append(p.problems, problem) }

// warn adds a problem that does not make the definition invalid.
func (p *parser) warn(problem diag.Problem) {
	problem.Severity = diag.Warning
	p.add(problem)
}

func (p *parser) definition(n *jsontree.Node) {
	o := p.open(n, "a state machine definition")
	if o == nil {
		return
	}
	m := p.machine
	m.Comment = o.text("Comment")
	if v := o.typed("Version", jsontree.String); v != nil {
		if m.Version = v.Text; v.Text != "1.0" {
			p.add(v.Problem("expected the version \"1.0\", found %s", v.Describe()))
		}
	}
	m.QueryLanguage = p.queryLanguage(o, JSONPath)
	m.TimeoutSeconds = o.integer("TimeoutSeconds", 0, MaxSeconds, 0)
	p.scope = newScope(nil)
	p.flow(o, &m.Flow)
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

var queryLanguages = []string{string(JSONPath), string(JSONata)}

func (p *parser) queryLanguage(o *object, inherited QueryLanguage) QueryLanguage {
	n := o.typed("QueryLanguage", jsontree.String)
	if n == nil {
		return inherited
	}
	if !slices.Contains(queryLanguages, n.Text) {
		p.add(n.Problem("expected the query language \"JSONPath\" or \"JSONata\", found %s", n.Describe()).Suggest(n.Text, queryLanguages...))
		return inherited
	}
	return QueryLanguage(n.Text)
}

// flow reads StartAt and States and checks the graph.
func (p *parser) flow(o *object, f *Flow) {
	outer := p.references
	defer func() { p.references = outer }()
	p.references = nil
	f.StartAt, f.index = o.target("StartAt", true), map[string]*State{}
	o.require("States")
	n := o.typed("States", jsontree.Object)
	if n == nil {
		return
	}
	if len(n.Members) == 0 {
		p.add(n.Problem("\"States\" has to hold at least one state"))
	}
	for _, m := range n.Members {
		// Of empty names nothing is on record. An empty Next is none here.
		if length := utf8.RuneCountInString(m.Name); length == 0 || length > MaxNameLength {
			p.add(n.MemberProblem(m, "a state name has 1 to %d characters, found %d", MaxNameLength, length))
		}
		if p.names[m.Name] {
			p.add(n.MemberProblem(m, "there is another state %q; state names are unique in the whole state machine", m.Name))
		}
		p.names[m.Name] = true
		s := p.readState(m)
		f.States = append(f.States, s)
		f.index[s.Name] = s
	}
	targets := p.checkTargets(f)
	if p.alone || slices.ContainsFunc(f.States, func(s *State) bool { return s.Type == "" }) {
		return
	}
	if targets {
		p.checkGraph(f, n)
	}
	open := slices.ContainsFunc(p.references, func(n *jsontree.Node) bool { return p.placeholder(n, true) })
	if open || len(f.States) == 0 || slices.ContainsFunc(f.States, (*State).ends) {
		return
	}
	if f == &p.machine.Flow {
		p.endless = true
		p.add(o.node.Problem("no state ends the state machine: one has to have \"End\": true or be of type Succeed or Fail"))
	} else {
		p.warn(n.Problem("no state from %q on has \"End\": true or is of type Succeed or Fail: it can only end by an error or a timeout", f.StartAt))
	}
}

// checkTargets tells whether all targets are known.
func (p *parser) checkTargets(f *Flow) bool {
	names := slices.Sorted(maps.Keys(f.index))
	known := true
	for _, n := range p.references {
		if f.index[n.Text] != nil || p.alone && f == &p.machine.Flow {
			continue
		}
		known = false
		if !p.placeholder(n, true) {
			p.add(n.Problem("there is no state %q", n.Text).Suggest(n.Text, names...))
		}
	}
	return known
}

// checkGraph notes the states that no edge leads to.
func (p *parser) checkGraph(f *Flow, states *jsontree.Node) {
	start := f.State(f.StartAt)
	if start == nil {
		return
	}
	reached := map[*State]bool{start: true}
	for queue := []*State{start}; len(queue) > 0; queue = queue[1:] {
		for _, t := range queue[0].Transitions() {
			if s := f.State(t.To); s != nil && !reached[s] {
				reached[s] = true
				queue = append(queue, s)
			}
		}
	}
	for i, s := range f.States {
		if !reached[s] {
			p.unreachable = append(p.unreachable, states.MemberProblem(states.Members[i], "state %q cannot be reached from %q", s.Name, f.StartAt))
		}
	}
}

// ends tells whether the flow can end in the state.
func (s *State) ends() bool { return s.End || s.Type == TypeSucceed || s.Type == TypeFail }

// position returns the place of a byte of the text. Places are asked for in
// the order of the text, so each is counted from the one before.
func (p *parser) position(pointer string, offset int) Position {
	if offset < p.counted {
		p.counted, p.line, p.column = 0, 0, 0
	}
	passed := p.text[p.counted:offset]
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		p.line += bytes.Count(passed, []byte{'\n'})
		p.column, passed = 0, passed[i+1:]
	}
	p.column += utf8.RuneCount(passed)
	p.counted = offset
	return Position{Pointer: pointer, Line: p.line + 1, Column: p.column + 1}
}

// Problem returns a problem that stands where a JSON pointer (RFC 6901) points
// to in the definition, at the name if it is a member, or at its nearest
// ancestor that is there.
func (m *StateMachine) Problem(pointer, format string, args ...any) diag.Problem {
	n := m.root
	p := n.Problem(format, args...)
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		next := n.Child(step)
		if next == nil {
			break
		}
		if i := slices.IndexFunc(n.Members, func(m jsontree.Member) bool { return m.Name == step }); i >= 0 {
			p = n.MemberProblem(n.Members[i], format, args...)
		} else {
			p = next.Problem(format, args...)
		}
		n = next
	}
	p.Pointer = pointer
	return p
}
