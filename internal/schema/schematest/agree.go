package schematest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Agreement is that of a reader of files and their schema.
type Agreement struct {
	Schema *Validator
	// Read is the reader.
	Read func(text []byte) error
	// Unsaid are patterns of the reader's messages for what a schema cannot say.
	Unsaid []*regexp.Regexp

	// Taken and Refused count the documents by what both say.
	Taken, Refused int
	met            map[*regexp.Regexp]bool
}

// Check says how the two differ on a document, which the reader takes as it is written, and the
// schema as JSON.
func (a *Agreement) Check(written, text []byte) error {
	wrong, invalid := a.Read(written), a.Schema.Check(text)
	if wrong == nil {
		a.Taken++
		if invalid != nil {
			return fmt.Errorf("the schema refuses what is read: %w\n%s", invalid, written)
		}
		return nil
	}
	a.Refused++
	if invalid != nil {
		return nil //nolint:nilerr // both refuse it
	}
	problems, ok := errors.AsType[diag.Problems](wrong)
	if !ok {
		problems = diag.Problems{{Message: wrong.Error()}}
	}
	for _, p := range problems {
		i := slices.IndexFunc(a.Unsaid, func(unsaid *regexp.Regexp) bool { return unsaid.MatchString(p.Message) })
		if i < 0 {
			return fmt.Errorf("the schema takes what is refused: %s\n%s", p.Message, written)
		}
		if a.met == nil {
			a.met = map[*regexp.Regexp]bool{}
		}
		a.met[a.Unsaid[i]] = true
	}
	return nil
}

// Unmet are the patterns that no message had.
func (a *Agreement) Unmet() []string {
	var all []string
	for _, unsaid := range a.Unsaid {
		if !a.met[unsaid] {
			all = append(all, unsaid.String())
		}
	}
	return all
}

// Vary calls a function with each document that differs from a JSON value in one place: a member
// less or more, or a value of another type or size.
func Vary(text []byte, call func(text []byte) error) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return vary(value, func(value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return call(text)
	})
}

func vary(value any, call func(any) error) error {
	for _, other := range []any{nil, true, false, -1, 0, 1, 1.5, 1e300, "", "x", "5%", []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": "y"}} {
		if err := call(other); err != nil {
			return err
		}
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			err := vary(item, func(other any) error {
				changed := slices.Clone(value)
				changed[i] = other
				return call(changed)
			})
			if err != nil {
				return err
			}
		}
		return call(append(slices.Clone(value), value...))
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			changed := maps.Clone(value)
			err := vary(value[name], func(other any) error {
				changed[name] = other
				return call(changed)
			})
			if err != nil {
				return err
			}
			delete(changed, name)
			if err := call(changed); err != nil {
				return err
			}
		}
		changed := maps.Clone(value)
		changed["unknownMember"] = map[string]any{"return": 1}
		return call(changed)
	}
	return nil
}
