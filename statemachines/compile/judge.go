package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
)

// judged is a rule in JSONata.
type judged struct {
	rule

	condition string
	says      phrase // the reason, with the message
}

// always is the condition of an acceptor of any response.
const always = "true"

// judge writes the rules that are not idle.
func (j *jsonata) judge() []judged {
	var all []judged
	for _, r := range j.rules {
		condition, err := j.condition(r)
		if err != nil {
			j.refuseAcceptor(r.number, "acceptor %d: %s", r.number, err)
			continue
		}
		if says := j.reason(r); !r.idle {
			all = append(all, judged{r, condition, says})
		}
	}
	return all
}

func (j *jsonata) condition(r rule) (string, error) {
	if r.matcher == nil {
		return always, nil
	}
	root, shape := j.judged, j.shapes.Members["output"]
	if r.input {
		root, shape = inputOutput, j.shapes
	}
	e, err := jmespath.Parse(r.matcher.Path)
	if err != nil {
		return "", err
	}
	condition, err := compare(tojsonata.Translate(e, root, shape), r.matcher)
	if r.input {
		condition = unbound(condition, "$"+j.variable("arguments"), j.judged)
	}
	return condition, err
}

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

// reason adds the message to the reason of a rule.
func (j *jsonata) reason(r rule) phrase {
	if r.message == "" {
		return phrase{text: r.reason}
	}
	t, err := j.translate(r.message)
	var message string
	if err == nil {
		message, err = t.Value()
	}
	if err != nil {
		j.refuseAcceptor(r.number, "message: %s", err)
	}
	return phrase{r.reason, fmt.Sprintf(`($message := $join(%s, '; '); $message ? ': ' & $message)`, message)}
}

// translate writes the path of what is shown.
func (j *jsonata) translate(path string) (*tojsonata.Translation, error) {
	e, err := jmespath.Parse(path)
	if err != nil {
		return nil, err
	}
	return tojsonata.Translate(e, j.response, j.shapes.Members["output"]), nil
}

// late is the reason of a time-out: with what was seen last at the paths of the
// acceptors.
func (j *jsonata) late() phrase {
	late := phrase{text: j.notFinished()}
	var known []string
	for _, a := range j.waiter.Acceptors {
		m := a.Matcher.Output
		if m == nil || slices.Contains(known, m.Path) {
			continue
		}
		t, err := j.translate(m.Path)
		if err != nil {
			continue // the acceptor's own problem
		}
		if v, ok := t.Path(); ok {
			known = append(known, m.Path)
			v = brief(v, m.Path, j.shapes.Members["output"])
			if len(known) == 1 {
				late = phrase{j.notFinished() + ": " + m.Path + " = ", v}
			} else {
				late.value += " & " + phrase{", " + m.Path + " = ", v}.jsonata()
			}
		}
	}
	return late
}
