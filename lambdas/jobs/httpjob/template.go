package httpjob

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// maxURL bounds a URL that is made of an answer, in bytes.
const maxURL = 4096

// template is a URL with places for values of the start call's answer.
type template struct{ parts []part }

// part is text, or an expression over the answer.
type part struct {
	text       string
	expression *jmespath.Program
}

// parseTemplate reads text with JMESPath expressions in braces. The scheme and
// the host are text, unless the whole template is one expression.
func parseTemplate(text string) (template, error) {
	var t template
	for rest := text; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		if strings.Contains(literal, "}") {
			return template{}, errors.New("found } without an opening {; for the character itself write %7D")
		}
		if literal != "" {
			t.parts = append(t.parts, part{text: literal})
		}
		if !found {
			break
		}
		expression, after, found := strings.Cut(after, "}")
		if !found {
			return template{}, errors.New("found { without a closing }; for the character itself write %7B")
		}
		parsed, err := jmespath.Parse(expression)
		if err != nil {
			return template{}, fmt.Errorf("expected a JMESPath expression in the braces at character %d, found other text", len(text)-len(rest)+len(literal)+1)
		}
		program, _ := parsed.Compile(nil)
		t.parts = append(t.parts, part{expression: program})
		rest = after
	}
	if !t.whole() && len(t.parts) > 1 {
		if _, path, ok := strings.Cut(t.parts[0].text, "://"); !ok || !strings.ContainsAny(path, "/?") {
			return template{}, errors.New("expected scheme and host before the first brace, or braces around the whole URL")
		}
	}
	return t, nil
}

// whole reports whether the URL is a value of the answer, such as a Location.
func (t template) whole() bool { return len(t.parts) == 1 && t.parts[0].expression != nil }

// check returns ErrNotAllowed if no value could make the URL one of the
// servers'.
func (t template) check(allowed servers) error {
	if t.whole() {
		return nil
	}
	_, err := t.fill(allowed, func(*jmespath.Program) (string, error) { return "x", nil })
	return err
}

// expand makes the URL of an answer to a call of base.
func (t template) expand(allowed servers, base *url.URL, a *answer) (*url.URL, error) {
	document, bodyErr := a.document()
	find := func(expression *jmespath.Program) (string, error) {
		value, err := evaluate(expression, document)
		if err != nil && bodyErr != nil {
			err = bodyErr // it may have been there
		}
		return value, err
	}
	if !t.whole() {
		return t.fill(allowed, func(expression *jmespath.Program) (string, error) {
			value, err := find(expression)
			// Only unreserved characters: a value is one segment of the path,
			// or one parameter.
			return strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), err
		})
	}
	text, err := find(t.parts[0].expression)
	if err != nil {
		return nil, err
	}
	reference, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("expected the value of the expression to be a URL, found other text")
	}
	u, err := parseURL(base.ResolveReference(reference).String())
	if err != nil {
		return nil, err
	}
	return u, allowed.check(u)
}

// fill joins the parts and checks the URL that they make.
func (t template) fill(allowed servers, value func(*jmespath.Program) (string, error)) (*url.URL, error) {
	var text strings.Builder
	for _, p := range t.parts {
		text.WriteString(p.text)
		if p.expression == nil {
			continue
		}
		v, err := value(p.expression)
		if err != nil {
			return nil, err
		}
		text.WriteString(v)
	}
	u, err := parseURL(text.String())
	if err != nil {
		return nil, err
	}
	return u, allowed.check(u)
}

// parseURL reads a URL that stands for itself: one whose path another reader
// could shorten is refused.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || len(text) > maxURL {
		return nil, fmt.Errorf("expected an absolute URL of at most %d bytes, found other text", maxURL)
	}
	if slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool { return segment == "." || segment == ".." }) {
		return nil, errors.New("expected a URL without the segments . and .. in its path")
	}
	return u, nil
}

// evaluate returns the string or whole number that the expression finds. A
// number that has lost digits would name another job.
func evaluate(expression *jmespath.Program, document any) (string, error) {
	value, err := expression.Eval(document)
	if number, ok := value.(float64); ok && number == math.Trunc(number) && math.Abs(number) < 1<<53 {
		value = strconv.FormatFloat(number, 'f', -1, 64)
	}
	if text, ok := value.(string); ok && err == nil && text != "" {
		return text, nil
	}
	return "", errors.New("expected the expression in braces to find a string or a whole number below 2^53 in the answer, found neither")
}
