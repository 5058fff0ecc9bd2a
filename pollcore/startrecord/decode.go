package startrecord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Decode reads a record as a store keeps it and checks that it is the one of
// key. A version of the JSON form that this program does not know is
// ErrVersion. Anything that is not the record of key is ErrMalformed, and the
// error lists every problem with its place, since people mend records by hand.
// Members that are not known are left out: a newer program may add some without
// raising the version.
func Decode(key Key, text []byte) (Record, error) {
	if at := invalidUTF8(text); at >= 0 {
		return Record{}, fmt.Errorf("%w: byte %d is not valid UTF-8", ErrMalformed, at)
	}
	if !isObject(text) {
		return Record{}, fmt.Errorf("%w: %w", ErrMalformed, notObject(text))
	}
	return decodeObject(key, text)
}

// decodeObject is Decode for a text that is a JSON object.
func decodeObject(key Key, text []byte) (Record, error) {
	d := decoder{text: text, members: splitObject(text)}
	var rec Record
	if d.integer("version", true, &rec.Version) && rec.Version != Version {
		return Record{}, fmt.Errorf("%w: it has version %d, this program reads version %d; use a program that reads both",
			ErrVersion, rec.Version, Version)
	}
	if d.require("executionArn", "a string", &rec.ExecutionARN) && rec.ExecutionARN != key.ExecutionARN {
		d.problem("executionArn", "expected %q, the execution of this key", key.ExecutionARN)
	}
	if d.require("poller", "a string", &rec.Poller) && rec.Poller != key.Poller {
		d.problem("poller", "expected %q, the poller of this key", key.Poller)
	}
	if d.optional("scope", "a string", &rec.Scope); rec.Scope != key.Scope {
		d.problem("scope", "expected %q, the scope of this key", key.Scope)
	}
	if d.require("status", "a string", &rec.Status) && !rec.Status.isKnown() {
		d.problem("status", "unknown status %q; expected one of %v", rec.Status, statuses)
	}
	if d.require("nonce", "a string", &rec.Nonce) && rec.Nonce == "" {
		d.problem("nonce", "is empty; use any text that was not used before")
	}
	d.require("startedAt", "an RFC 3339 time", &rec.StartedAt)
	d.require("executionStartTime", "an RFC 3339 time", &rec.ExecutionStartTime)
	d.optional("expiresAt", "an RFC 3339 time", &rec.ExpiresAt)
	d.optional("stopRequestedAt", "an RFC 3339 time", &rec.StopRequestedAt)
	d.integer("redriveCount", false, &rec.RedriveCount)
	d.integer("generation", false, &rec.Generation)
	d.integer("leaseSeconds", false, &rec.LeaseSeconds)
	d.optional("token", "a string", &rec.Token)
	d.optional("requestHash", "a string", &rec.RequestHash)
	d.optional("movedTo", "a string", &rec.MovedTo)
	rec.Request, rec.JobRef, rec.Result = d.json("request"), d.json("jobRef"), d.json("result")
	rec.Callback = d.callback()
	if err := d.problems(); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return rec, nil
}

// encode returns the JSON form of rec.
func encode(rec Record) ([]byte, error) {
	var problems []error
	if !rec.Status.isKnown() {
		problems = append(problems, fmt.Errorf("unknown status %q; expected one of %v", rec.Status, statuses))
	}
	if rec.StartedAt.IsZero() {
		problems = append(problems, errors.New("startedAt is not set"))
	}
	if rec.ExecutionStartTime.IsZero() {
		problems = append(problems, errors.New("executionStartTime is not set"))
	}
	for name, part := range rec.parts() {
		if at := invalidUTF8(part); at >= 0 { // a store may keep text alone
			problems = append(problems, fmt.Errorf("%s is not valid JSON: byte %d is not valid UTF-8", name, at))
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // keeps the text of the JSON members as it is
	err := enc.Encode(rec)
	if err != nil { // it says nothing of the member
		for name, part := range rec.parts() {
			if len(part) > 0 && !json.Valid(part) {
				problems = append(problems, fmt.Errorf("%s is not valid JSON", name))
			}
		}
	}
	if problems != nil {
		err = errors.Join(problems...)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// parts are the members that are JSON of others, by their names.
func (r Record) parts() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		_ = yield("request", r.Request) && yield("jobRef", r.JobRef) && yield("result", r.Result)
	}
}

// invalidUTF8 returns the offset of the first byte of text that is not valid
// UTF-8, or -1. Package json does not mind such bytes.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// decoder reads the members of a record and gathers what is wrong. Only when
// something is does it parse the text once more, for the places.
type decoder struct {
	text    []byte
	members members
	found   []finding
}

type finding struct{ member, message string }

func (d *decoder) problem(member, format string, args ...any) {
	d.found = append(d.found, finding{member, fmt.Sprintf(format, args...)})
}

// require reads a member into dst and reports whether it could.
func (d *decoder) require(member, expected string, dst any) bool {
	raw := d.members.find(member)
	if raw == nil {
		d.problem(member, "member %q is missing; expected %s", member, expected)
		return false
	}
	if err := readInto(dst, raw); err != nil {
		d.problem(member, "expected %s, found %.80s", expected, raw)
		return false
	}
	return true
}

func (d *decoder) optional(member, expected string, dst any) {
	if d.members.find(member) != nil {
		d.require(member, expected, dst)
	}
}

// integer reads a whole number into dst, in any spelling: people mend records
// with tools that write 60.0. It reports whether it could.
func (d *decoder) integer(member string, required bool, dst *int) bool {
	raw := d.members.find(member)
	if raw == nil {
		if required {
			d.problem(member, "member %q is missing; expected a whole number", member)
		}
		return false
	}
	digits, whole := jsontree.WholeNumber(string(raw))
	value, err := strconv.Atoi(digits)
	if !whole || err != nil {
		d.problem(member, "expected a whole number, found %.80s", raw)
		return false
	}
	*dst = value
	return true
}

// json returns the text of a member.
func (d *decoder) json(member string) json.RawMessage { return bytes.Clone(d.members.find(member)) }

func (d *decoder) problems() error {
	if d.found == nil {
		return nil
	}
	doc, err := jsontree.Parse(d.text)
	if err != nil {
		return err
	}
	var problems diag.Problems
	for _, f := range d.found {
		at := doc.Root
		if member := at.Get(f.member); member != nil {
			at = member
		}
		problems = append(problems, at.Problem("%s", f.message))
	}
	return problems.Err()
}

func notObject(text []byte) error {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return err
	}
	return diag.Problems{doc.Root.Problem("expected an object, found %s", doc.Root.Describe())}
}
