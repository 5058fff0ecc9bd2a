package pollcore

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// Reason says in words why the result is what it is: what was expected and
// what was seen, and by which acceptor. The arguments are those of Check.
func (c *Check[In, Out]) Reason(r Result, in In, out Out, opErr error) string {
	if r.Acceptor == NoAcceptor {
		if advice := denial(opErr); advice != "" {
			return fmt.Sprintf("access denied: %s (%s)", advice, opErr)
		}
		if opErr != nil {
			return fmt.Sprintf("unexpected error: %s", opErr)
		}
		return "no acceptor matched: " + c.describeSeen(in, out)
	}
	a := c.acceptors[r.Acceptor]
	reason := fmt.Sprintf("%s (acceptor %d of %d)", a.Matcher, r.Acceptor+1, len(c.acceptors))
	if r.Message != "" {
		reason += ": " + r.Message
	}
	if opErr != nil && a.Matcher.Success != nil {
		reason += ": " + opErr.Error()
	}
	return reason
}

// denial is the advice about a call that a service denies, if it names the permission;
// else empty.
func denial(err error) string {
	answer, ok := errors.AsType[interface {
		error
		ErrorCode() string
		ErrorMessage() string
	}](err)
	if !ok {
		return ""
	}
	if d, ok := awserror.ReadDenial(answer.ErrorCode(), answer.ErrorMessage()); ok && d.Permission != "" {
		return d.Advice("", "")
	}
	return ""
}

// describeSeen lists the values of the paths that the waiter reads.
func (c *Check[In, Out]) describeSeen(in In, out Out) string {
	var parts []string
	seen := map[string]bool{}
	for _, a := range c.acceptors {
		m := a.Matcher.pathMatcher()
		if m == nil || seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		var value any = out
		if a.Matcher.InputOutput != nil {
			value = &inputOutput[In, Out]{in, out}
		}
		switch v, err := a.path.Eval(value); v := v.(type) {
		case string:
			parts = append(parts, fmt.Sprintf("%s = %q", m.Path, shorten(v)))
		case nil:
			if err != nil {
				parts = append(parts, fmt.Sprintf("%s: %s", m.Path, err))
			} else {
				parts = append(parts, m.Path+" = null")
			}
		default:
			parts = append(parts, fmt.Sprintf("%s = %s", m.Path, shorten(asJSON(v))))
		}
	}
	if len(parts) == 0 {
		return "a response"
	}
	return strings.Join(parts, ", ")
}

// asJSON writes a value as the paths see it, and on one line.
func asJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// longestSeen is how many characters of a value a reason quotes.
const longestSeen = 200

// shorten cuts a value that is too long to read. It counts characters, as JSONata
// does in a compiled state machine.
func shorten(s string) string {
	n := 0
	for i := range s {
		if n == longestSeen {
			return s[:i] + "..."
		}
		n++
	}
	return s
}
