package jobs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Rule is what Arguments requires besides the types of the members.
type Rule func(*arguments)

// Require names members that must be there, as the arguments or the SDK's Go
// types spell them.
func Require(members ...string) Rule {
	return func(a *arguments) { a.required = append(a.required, spell(members)...) }
}

// Reserve names members that the driver sets itself, such as a token: a
// request that has one is refused.
func Reserve(members ...string) Rule {
	return func(a *arguments) { a.reserved = append(a.reserved, spell(members)...) }
}

// spell returns what Step Functions calls members.
func spell(members []string) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = javasdk.MemberName(m)
	}
	return names
}

// Arguments reads the arguments of a job as the input T of an SDK operation.
// Members are spelled as Step Functions spells them: as the Go fields, but with one
// capital for an acronym at the beginning (KmsEncryptionContext, which the SDK calls
// KMSEncryptionContext). The SDK's own spelling is taken too, and a small first
// letter, by the rule of javasdk.MemberName. Timestamps are RFC 3339 strings
// or epoch seconds, blobs base64, enums strings of any value, since services
// add some. What could not be sent as it is written is refused: a member that
// T does not have, a null, the empty string for an enum, a union or document.
// The error wraps ErrArguments and tells all problems with their places.
func Arguments[T any](job string, text json.RawMessage, rules ...Rule) (*T, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w of %s: %w", ErrArguments, job, err)
	}
	a := &arguments{Reader: jsontree.Reader{HideStrings: true, Spell: javasdk.MemberName}}
	for _, rule := range rules {
		rule(a)
	}
	in := new(T)
	a.structure(doc.Root, reflect.ValueOf(in).Elem(), "the object of arguments")
	if err := a.Problems.Err(); err != nil {
		return nil, fmt.Errorf("%w of %s: %w", ErrArguments, job, err)
	}
	return in, nil
}

// arguments reads values into Go values of the SDK's types.
type arguments struct {
	jsontree.Reader

	required, reserved []string // of the outermost object
}

// structure reads an object into a struct. The members of the outermost one
// follow the rules.
func (a *arguments) structure(n *jsontree.Node, to reflect.Value, what string) {
	if to.Kind() != reflect.Struct {
		a.Report(n.Problem("%s cannot be read: %s is not a struct", what, to.Type()))
		return
	}
	outermost := n.IsRoot()
	members := map[string]func(*jsontree.Node){}
	for i := range to.NumField() {
		f := to.Type().Field(i)
		name := javasdk.MemberName(f.Name)
		switch {
		case !f.IsExported() || f.Anonymous:
		case outermost && slices.Contains(a.reserved, name):
			members[name] = func(n *jsontree.Node) { a.Report(n.Problem("remove %s: the functions set it", diag.Word(name))) }
		default:
			members[name] = func(n *jsontree.Node) { a.value(n, to.Field(i)) }
		}
	}
	var required []string
	if outermost {
		required = a.required
	}
	a.Object(n, what, members, required...)
}

func (a *arguments) value(n *jsontree.Node, to reflect.Value) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch to.Type() {
	case reflect.TypeFor[time.Time]():
		a.timestamp(n, to)
		return
	case reflect.TypeFor[[]byte]():
		a.blob(n, to)
		return
	}
	switch to.Kind() {
	case reflect.Struct:
		a.structure(n, to, "the structure "+to.Type().Name())
	case reflect.Slice:
		a.list(n, to)
	case reflect.Map:
		a.mapping(n, to)
	case reflect.String:
		a.text(n, to)
	case reflect.Bool:
		var v bool
		a.Bool(&v)(n)
		to.SetBool(v)
	case reflect.Int, reflect.Int32, reflect.Int64:
		a.integer(n, to)
	case reflect.Float32, reflect.Float64:
		a.float(n, to)
	default:
		a.Report(n.Problem("arguments cannot hold a value of type %s", to.Type()))
	}
}

func (a *arguments) list(n *jsontree.Node, to reflect.Value) {
	to.Set(reflect.MakeSlice(to.Type(), len(n.Items), len(n.Items)))
	i := 0
	a.List(func(item *jsontree.Node) {
		a.value(item, to.Index(i))
		i++
	})(n)
}

func (a *arguments) mapping(n *jsontree.Node, to reflect.Value) {
	if to.Type().Key().Kind() != reflect.String {
		a.Report(n.Problem("arguments cannot hold a value of type %s", to.Type()))
		return
	}
	if n.Kind != jsontree.Object {
		a.Report(n.Problem("expected an object, found %s", n.Kind))
		return
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(n.Members)))
	for _, m := range n.Members {
		item := reflect.New(to.Type().Elem()).Elem()
		a.value(m.Value, item)
		to.SetMapIndex(reflect.ValueOf(m.Name).Convert(to.Type().Key()), item)
	}
}

func (a *arguments) text(n *jsontree.Node, to reflect.Value) {
	var v string
	a.Text(&v)(n)
	// The SDK does not send an enum that is empty.
	if n.Kind == jsontree.String && v == "" && to.Type() != reflect.TypeFor[string]() {
		a.Report(n.Problem("expected a value of %s, found an empty string; remove the member to send none", diag.Word(to.Type().Name())))
	}
	to.SetString(v)
}

func (a *arguments) integer(n *jsontree.Node, to reflect.Value) {
	var v int64
	a.Integer(&v, to.Type().Bits())(n)
	to.SetInt(v)
}

func (a *arguments) float(n *jsontree.Node, to reflect.Value) {
	var v float64
	a.Float(&v, to.Type().Bits())(n)
	to.SetFloat(v)
}

func (a *arguments) blob(n *jsontree.Node, to reflect.Value) {
	var v []byte
	a.Blob(&v)(n)
	to.SetBytes(v)
}

func (a *arguments) timestamp(n *jsontree.Node, to reflect.Value) {
	var v time.Time
	a.Timestamp(&v)(n)
	to.Set(reflect.ValueOf(v))
}
