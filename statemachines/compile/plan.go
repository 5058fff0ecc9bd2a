package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// poller is a waiter made ready to be written as states.
type poller struct {
	waiter  *pollcore.Waiter // in PascalCase
	call    Call
	options Options
	total   int // seconds
	initial int
	low, hi int // bounds of the delay

	leave bool // the Lambda functions are not to stop the job, which they could

	rules   []rule  // of responses
	catches []catch // of errors
	late    rule    // what a time-out says
	reasons []string
	// unmodeled are codes of errors that Step Functions does not pass on.
	unmodeled []string
	// failing are those of them that fail the wait.
	failing []string
	// optionalOnly are the members of the first call's input if it requires none and
	// nothing says which are passed on.
	optionalOnly []string
	// minFits or maxFits is the delay with which it fits into the history, if it does not.
	minFits, maxFits time.Duration
	// unseen are the reasons of acceptors whose errors cannot be told from those
	// that no acceptor matches, with the same verdict.
	unseen []string
	// named are the states of Options.Names.
	named map[string]bool
	// selection is what the result keeps of a response; nil for all.
	selection *jmespath.Expr
}

// rule is an acceptor of responses.
type rule struct {
	state     pollcore.Verdict
	number    int    // of the acceptor
	condition string // JSONata
	reason    phrase
	test      object // of a Choice in JSONPath
	plain     string // the reason without the message
	message   string // JSONPath of the message, or empty
}

func (p *poller) refuse(format string, args ...any) {
	p.reasons = append(p.reasons, fmt.Sprintf(format, args...))
}

// throughLambda tells whether Lambda functions start, poll and stop.
func (p *poller) throughLambda() bool {
	return p.options.Strategy == LambdaLoop || p.options.Strategy == LambdaRetry
}

func (p *poller) refused() error {
	if len(p.reasons) == 0 {
		return nil
	}
	return &NotCompiledError{p.waiter.Name, p.options.Strategy, p.reasons, p.unmodeled, p.optionalOnly, p.minFits, p.maxFits}
}

func plan(w *pollcore.Waiter, call Call, o Options) (*poller, error) {
	if w == nil {
		return nil, wrong("compile needs a waiter and the operation that it polls")
	}
	if err := call.check(o.Strategy); err != nil {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, err)
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, err)
	}
	in, out := call.Operation.Input.Described(), call.Operation.Output.Described()
	problems := slices.DeleteFunc(pollcore.AnalyzeShapes(w, in, out), func(p pollcore.Problem) bool { return p.Severity == pollcore.SeverityWarning })
	if err := problems.Err(); err != nil {
		return nil, wrong("waiter %s does not fit %s: %w", w.Name, call.Operation.Name, err)
	}
	renamed, err := pollcore.RenameMembers(w, in, out, javasdk.MemberName)
	if err != nil {
		return nil, err
	}
	if o.JobTo == 0 {
		o.JobTo = o.MaxWait
	}
	p := &poller{waiter: renamed, call: call, options: o, named: map[string]bool{}}
	if err := p.setSchedule(); err != nil {
		return nil, err
	}
	if p.selection, err = p.selects(out); err != nil {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, err)
	}
	both := &pollcore.Shape{Kind: pollcore.KindObject, Members: map[string]*pollcore.Shape{"input": in.Respell(javasdk.MemberName), "output": out.Respell(javasdk.MemberName)}}
	if p.throughLambda() {
		// The functions judge, start and stop.
		if call.Start != nil {
			p.call.Arguments = call.Start.Arguments
		}
		p.leave = call.Stop == nil && call.stoppable()
		p.call.Start, p.call.Stop = nil, nil
		return p, nil
	}
	for i, a := range renamed.Acceptors {
		p.accept(i, a, both)
	}
	p.settleCatches()
	p.checkFailing()
	p.checkPatterns()
	p.observe(both)
	p.rules = needed(renamed, p.rules)
	return p, nil
}

func (p *poller) setSchedule() error {
	s := pollcore.NewSchedule(p.waiter, p.options.MaxWait)
	if p.options.MinDelay != 0 {
		s.Min = p.options.MinDelay
	}
	s.Max = max(s.Max, s.Min)
	if p.options.MaxDelay != 0 {
		s.Max = p.options.MaxDelay
	}
	s.Initial = p.options.InitialDelay
	if err := s.Validate(); err != nil {
		return wrongOptionError{err}
	}
	for _, given := range []struct {
		name string
		d    time.Duration
	}{{"MaxWait", s.Total}, {"MinDelay", s.Min}, {"MaxDelay", s.Max}, {"InitialDelay", s.Initial}} {
		switch {
		case given.d%time.Second != 0:
			return wrong("%s must be whole seconds, as the delays of Step Functions are, got %s", given.name, given.d)
		case given.d > asl.MaxStandardTime:
			return wrong("%s must not be above the year that an execution can last, got %s", given.name, given.d)
		}
	}
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	p.total, p.initial, p.low, p.hi = seconds(s.Total), seconds(s.First()), seconds(s.Min), seconds(s.Max)
	return nil
}

// judged is the JSONata path of the response where it is judged: in the Task
// that called the operation, or in the Choice behind it.
func (p *poller) judged() string {
	if p.options.Strategy == RetryTask {
		return "$states.result"
	}
	return "$states.input"
}

// response is the JSONata path of the response where the result is made: in the
// Choice behind the Task.
func (p *poller) response() string {
	if p.options.Strategy == RetryTask {
		return "$states.input.output"
	}
	return "$states.input"
}

// translate writes the path of what is shown.
func (p *poller) translate(path string, shapes *pollcore.Shape) (*tojsonata.Translation, error) {
	e, err := jmespath.Parse(path)
	if err != nil {
		return nil, err
	}
	return tojsonata.Translate(e, p.response(), shapes.Members["output"]), nil
}

// accept takes over an acceptor.
func (p *poller) accept(i int, a pollcore.Acceptor, shapes *pollcore.Shape) {
	reason := fmt.Sprintf("%s (acceptor %d of %d)", a.Matcher, i+1, len(p.waiter.Acceptors))
	switch m := a.Matcher; {
	case m.Success != nil && *m.Success:
		test := object{"Variable": p.output(), "IsPresent": true}
		p.rules = append(p.rules, rule{state: a.State, number: i + 1, condition: always, reason: phrase{text: reason}, test: test, plain: reason})
	case m.Success != nil, m.ErrorType != nil:
		p.acceptError(i, a, reason)
	default:
		r := rule{state: a.State, number: i + 1, plain: reason}
		var err error
		if p.options.Strategy == Loop {
			err = p.inJSONPath(&r, a)
		} else {
			err = p.inJSONata(&r, a, shapes)
		}
		if err != nil {
			p.refuse("acceptor %d: %s", i+1, err)
		}
		p.rules = append(p.rules, r)
	}
}

func (p *poller) inJSONPath(r *rule, a pollcore.Acceptor) (err error) {
	if a.Matcher.InputOutput != nil {
		return errors.New("a Choice rule of JSONPath cannot compare input and output")
	}
	if r.test, err = p.dotted(a.Matcher.Output); err != nil || a.Message == "" {
		return err
	}
	r.message, err = p.member(a.Message)
	return err
}

func (p *poller) inJSONata(r *rule, a pollcore.Acceptor, shapes *pollcore.Shape) error {
	path, root, shape := a.Matcher.Output, p.judged(), shapes.Members["output"]
	if path == nil {
		path, root, shape = a.Matcher.InputOutput, inputOutput, shapes
	}
	e, err := jmespath.Parse(path.Path)
	if err != nil {
		return err
	}
	if r.condition, err = compare(tojsonata.Translate(e, root, shape), path); err != nil {
		return err
	}
	if root == inputOutput {
		r.condition = unbound(r.condition, "$"+p.variable("arguments"), p.judged())
	}
	r.reason = p.reason(r.plain, a, shapes)
	return nil
}

// always is the condition of an acceptor of any response.
const always = "true"

func compare(t *tojsonata.Translation, m *pollcore.PathMatcher) (string, error) {
	switch m.Comparator {
	case pollcore.BooleanEquals:
		return t.EqualsBool(strings.EqualFold(m.Expected, "true"))
	case pollcore.AllStringEquals:
		return t.AllEqualString(m.Expected)
	case pollcore.AnyStringEquals:
		return t.AnyEqualString(m.Expected)
	default:
		return t.EqualsString(m.Expected)
	}
}

// reason adds the acceptor's message.
func (p *poller) reason(reason string, a pollcore.Acceptor, shapes *pollcore.Shape) phrase {
	if a.Message == "" {
		return phrase{text: reason}
	}
	t, err := p.translate(a.Message, shapes)
	var message string
	if err == nil {
		message, err = t.Value()
	}
	if err != nil {
		p.refuse("message: %s", err)
	}
	return phrase{reason, fmt.Sprintf(`($message := $join(%s, '; '); $message ? ': ' & $message)`, message)}
}

// observe writes what a time-out says that was seen last: the paths of the
// acceptors.
func (p *poller) observe(shapes *pollcore.Shape) {
	p.late = rule{state: pollcore.Retry, reason: phrase{text: p.notFinished()}}
	var known []string
	for _, a := range p.waiter.Acceptors {
		m := a.Matcher.Output
		if m == nil || slices.Contains(known, m.Path) {
			continue
		}
		t, err := p.translate(m.Path, shapes)
		if err != nil {
			continue // the acceptor's own problem
		}
		if v, ok := t.Path(); ok {
			known = append(known, m.Path)
			v = brief(v, m.Path, shapes.Members["output"])
			if len(known) == 1 {
				p.late.reason = phrase{p.notFinished() + "; seen " + m.Path + " = ", v}
			} else {
				p.late.reason.value += " & " + phrase{", " + m.Path + " = ", v}.jsonata()
			}
		}
	}
}

// brief is the JSONata of the text of a value that a reason quotes: as far as
// pollcore quotes one, 200 characters. What has no long values is not cut.
func brief(value, path string, output *pollcore.Shape) string {
	whole := "$string(" + value + ")"
	if e, err := jmespath.Parse(path); err == nil {
		if t := e.Check(output).Type; t.Values() != nil || t.Kind == pollcore.KindBoolean || t.Kind == pollcore.KindNumber {
			return whole
		}
	}
	return "($seen := " + whole + "; $length($seen) > 200 ? $substring($seen, 0, 200) & '...' : $seen)"
}

// notFinished is the reason of a time-out, as far as it is known beforehand.
func (p *poller) notFinished() string { return fmt.Sprintf("not finished after %s", p.options.MaxWait) }

// needed leaves out rules that only say to go on where that is what happens
// anyway: those behind which no other rule can match the same response.
func needed(w *pollcore.Waiter, rules []rule) []rule {
	var paths []*pollcore.PathMatcher // by rule
	for _, a := range w.Acceptors {
		if a.Matcher.ErrorType == nil && (a.Matcher.Success == nil || *a.Matcher.Success) {
			paths = append(paths, a.Matcher.Output)
		}
	}
	var kept []rule
	for i, r := range rules {
		excluded := func(j int) bool {
			a, b := paths[i], paths[j]
			return rules[j].state == pollcore.Retry || a != nil && b != nil && a.Path == b.Path &&
				a.Comparator == pollcore.StringEquals && b.Comparator == pollcore.StringEquals && a.Expected != b.Expected
		}
		alone := true
		for j := i + 1; j < len(rules); j++ {
			alone = alone && excluded(j)
		}
		if r.state != pollcore.Retry || !alone {
			kept = append(kept, r)
		}
	}
	return kept
}

// name is the name of a state.
func (p *poller) name(s string) string {
	if name, ok := p.options.Names[s]; ok {
		p.named[s] = true
		return name
	}
	return p.options.Prefix + s
}

// variable is the name of a variable, without the dollar sign.
func (p *poller) variable(s string) string {
	if p.options.Prefix == "" {
		return s
	}
	return lowerFirst(p.options.Prefix) + upperFirst(s)
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// comment says what the machine is.
func (p *poller) comment() string {
	op, lambdas := p.call.Operation, p.throughLambda()
	var b strings.Builder
	switch {
	case lambdas:
		fmt.Fprintf(&b, "Runs the job %s with two Lambda functions and polls %s of %s", p.call.Job, op.Name, op.Service.Name)
	case p.call.Start != nil:
		fmt.Fprintf(&b, "Calls %s of %s and then polls %s", p.call.Start.Operation.Name, op.Service.Name, op.Name)
	default:
		fmt.Fprintf(&b, "Polls %s of %s", op.Name, op.Service.Name)
	}
	fmt.Fprintf(&b, " until the waiter %s has a verdict, for %s at most. ", p.waiter.Name, p.options.MaxWait)
	switch {
	case lambdas && p.call.Arguments == nil:
		b.WriteString("The input is the arguments of the job. ")
	case lambdas: // the definition has them
	default:
		p.tellInput(&b)
	}
	if p.redrivable() {
		b.WriteString("A redrive resumes it. ")
	} else {
		b.WriteString("A redrive does not resume it. ")
	}
	fmt.Fprintf(&b, "Compiled by jobpoller, strategy %s.", p.options.Strategy)
	return b.String()
}

// tellInput says what the input is of a machine that calls services itself.
func (p *poller) tellInput(b *strings.Builder) {
	first, given, token := p.first()
	switch {
	case given != nil: // the definition has it
	case p.optional() != nil:
		passed := slices.DeleteFunc(p.passed(), func(name string) bool { return token != "" && name == javasdk.MemberName(token) })
		fmt.Fprintf(b, "The input is that of %s, of which it passes on %s. ", first.Name, strings.Join(passed, ", "))
	default:
		fmt.Fprintf(b, "The input is that of %s. ", first.Name)
	}
}

// redrivable reports whether a redrive goes on polling: it runs the state that
// failed again, which must not be a Fail state.
func (p *poller) redrivable() bool {
	return p.options.Strategy == LambdaRetry && p.options.Exits == nil
}

// resource is the SDK integration of the operation.
func resource(op *catalog.Operation) string {
	return "arn:aws:states:::aws-sdk:" + op.Service.ARNName + ":" + lowerFirst(op.Name)
}
