package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/timespan"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// form is how one shape is written.
type form struct {
	name, usage string
	arguments   string // a letter each: d a duration, n a number
	shape       func(a []float64) (shape, error)
}

var forms = []form{
	{"constant", "constant(10m)", "d", func(a []float64) (shape, error) { return constant{a[0]}, nil }},
	{"uniform", "uniform(15m, 30m)", "dd", func(a []float64) (shape, error) {
		if a[1] <= a[0] {
			return nil, fmt.Errorf("uniform's second duration must be above its first")
		}
		return uniform{a[0], a[1]}, nil
	}},
	{"exponential", "exponential(20m)", "d", func(a []float64) (shape, error) { return weibull{a[0], 1}, nil }},
	{"lognormal", "lognormal(15m, 0.5)", "dn", func(a []float64) (shape, error) {
		if a[1] < 0.001 || a[1] > 5 {
			return nil, fmt.Errorf("lognormal's sigma must be between 0.001 and 5, got %v", a[1])
		}
		return lognormal{a[0], a[1]}, nil
	}},
	{"weibull", "weibull(20m, 3)", "dn", func(a []float64) (shape, error) {
		if a[1] < 0.2 || a[1] > 100 {
			return nil, fmt.Errorf("weibull's shape must be between 0.2 and 100, got %v", a[1])
		}
		return weibull{a[0], a[1]}, nil
	}},
}

// maxParts is how many shapes a mixture may have.
const maxParts = 16

// maxDuration is how long a Standard execution may run.
const maxDuration = 365 * 24 * time.Hour

// Parse reads a distribution of durations:
//
//	constant(10m)
//	uniform(15m, 30m)             any duration between the two is as likely
//	exponential(20m)              the mean; or exp(20m)
//	lognormal(15m, 0.5)           the median, and the deviation of the logarithm
//	weibull(20m, 3)               the scale, and the shape
//	mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))
//
// A duration is as [time.ParseDuration] reads it, also with days (2d, 1d12h), above 0 and of at most 365 days. The
// shares of a mixture add up to 100%. An error is a [diag.SyntaxError].
func Parse(text string) (Distribution, error) {
	p := parser{text: text}
	parts, err := p.distribution()
	if err != nil {
		return Distribution{}, err
	}
	return mixture(strings.TrimSpace(text), parts), nil
}

type parser struct {
	text string
	at   int
}

// errorAt is the error at an offset.
func (p *parser) errorAt(offset int, format string, args ...any) error {
	return &diag.SyntaxError{Text: p.text, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept skips c, if it is next.
func (p *parser) accept(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(c byte, usage string) error {
	if p.accept(c) {
		return nil
	}
	return p.errorAt(p.at, "expected %q, as in %s", string(c), usage)
}

// word is what stands before the next punctuation mark or space.
func (p *parser) word() (word string, offset int) {
	p.space()
	offset = p.at
	for p.at < len(p.text) && strings.IndexByte("(), \t\r\n", p.text[p.at]) < 0 {
		p.at++
	}
	return p.text[offset:p.at], offset
}

func (p *parser) distribution() ([]part, error) {
	var parts []part
	name, offset := p.word()
	var err error
	if name == "mix" {
		parts, err = p.mix(offset)
	} else {
		var s shape
		s, err = p.shape(name, offset)
		parts = []part{{1, s}}
	}
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.errorAt(p.at, "expected the end of the distribution")
	}
	return parts, nil
}

func (p *parser) mix(offset int) ([]part, error) {
	const usage = "mix(80% constant(1m), 20% constant(1h))"
	if err := p.expect('(', usage); err != nil {
		return nil, err
	}
	var parts []part
	sum := 0.0
	for {
		text, at := p.word()
		share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !strings.HasSuffix(text, "%") || !(share > 0 && share <= 100) {
			return nil, p.errorAt(at, "%q is not a share above 0%% and at most 100%%, as in %s", text, usage)
		}
		name, at := p.word()
		s, err := p.shape(name, at)
		if err != nil {
			return nil, err
		}
		if parts = append(parts, part{share / 100, s}); len(parts) > maxParts {
			return nil, p.errorAt(at, "a mixture has at most %d shapes", maxParts)
		}
		sum += share
		if !p.accept(',') {
			break
		}
	}
	if err := p.expect(')', usage); err != nil {
		return nil, err
	}
	if math.Abs(sum-100) > 0.1 {
		return nil, p.errorAt(offset, "the shares of the mixture add up to %s, not to 100%%", percent(sum/100))
	}
	return parts, nil
}

func (p *parser) shape(name string, offset int) (shape, error) {
	var names []string
	if name == "exp" { // as a simulated job has it
		name = "exponential"
	}
	for _, f := range forms {
		names = append(names, f.name)
		if f.name != name {
			continue
		}
		arguments, err := p.arguments(f)
		if err != nil {
			return nil, err
		}
		s, err := f.shape(arguments)
		if err != nil {
			return nil, p.errorAt(offset, "%s", err)
		}
		return s, nil
	}
	return nil, &diag.SyntaxError{
		Text: p.text, Offset: offset, Suggestion: nearest.Word(name, append(names, "mix")),
		Message: fmt.Sprintf("%q is not a distribution: expected %s or mix", name, strings.Join(names, ", ")),
	}
}

func (p *parser) arguments(f form) ([]float64, error) {
	if err := p.expect('(', f.usage); err != nil {
		return nil, err
	}
	var all []float64
	for i, kind := range f.arguments {
		if i > 0 {
			if err := p.expect(',', f.usage); err != nil {
				return nil, err
			}
		}
		text, offset := p.word()
		if kind == 'n' {
			number, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(number) {
				return nil, p.errorAt(offset, "%q is not a number, as in %s", text, f.usage)
			}
			all = append(all, number)
			continue
		}
		d, err := timespan.Parse(text)
		if err != nil || d <= 0 {
			return nil, p.errorAt(offset, "%q is not a duration above 0, as in %s", text, f.usage)
		}
		if d > maxDuration {
			return nil, p.errorAt(offset, "a duration must be at most 365 days, is %s", text)
		}
		all = append(all, d.Seconds())
	}
	return all, p.expect(')', f.usage)
}
