package jmespath

import (
	"reflect"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Program is an expression compiled against a Go type. It is safe for use by
// many goroutines.
type Program struct {
	expr   *Expr
	result *jsontype.Type
	code   code
	each   stream // gives the elements of the result to matchItem
	frames sync.Pool

	root reflect.Type // of a pointer to own
	own  *plan        // of the struct that the expression was compiled against, or nil
	word *chain       // the way from own to a string, if that is the whole expression
}

// Compile checks the expression against t and resolves it: an SDK output type
// or a pointer to it, or an interface or map type (nil stands for any), whose
// members are looked up at run time. There is always a program: a place that a
// finding is about evaluates to null, or to an error, as it would on JSON.
func (e *Expr) Compile(t reflect.Type) (*Program, diag.Problems) {
	if t == nil {
		t = reflect.TypeFor[any]()
	}
	p := &Program{expr: e}
	in := goShape(planOf(t))
	root, findings := e.check(in)
	p.result = root.Out.result()

	g := &generator{}
	p.code = g.code(root)
	more := e.root.CanFail()
	p.each = g.stream(root, func(fr *frame, item value) bool { return fr.matchItem(item) || more })
	p.frames.New = func() any {
		return &frame{text: e.text, slots: make([]slot, g.slots), args: make([]value, g.args)}
	}
	if own := in.plan; own.rep == repStruct && !own.open {
		p.own = own
		p.root = reflect.PointerTo(own.typ)
		if c, ok := chainOf(root); ok && c.holdsString() {
			p.word = c
		}
	}
	return p, findings
}

// Result is the static type of the result.
func (p *Program) Result() *jsontype.Type { return p.result }

// Eval evaluates the expression. The result is one of nil, bool, float64,
// string, []any and map[string]any and shares no memory with v. An error is an
// *[Error].
func (p *Program) Eval(v any) (any, error) {
	fr := p.frame()
	defer p.release(fr)
	r := p.value(fr, v)
	out := fr.export(p.expr.root.Offset, r, 0)
	if fr.err != nil {
		return nil, fr.err
	}
	return out, nil
}

// EqualsString reports whether the result is the string.
func (p *Program) EqualsString(v any, want string) (bool, error) {
	if p.word != nil && reflect.TypeOf(v) == p.root { // most waiters come through here
		last, ok := p.word.follow(reflect.ValueOf(v).Elem())
		return ok && last.String() == want, nil
	}
	r, err := p.scalar(v)
	return err == nil && r.isText(want), err
}

// EqualsBool reports whether the result is the boolean.
func (p *Program) EqualsBool(v any, want bool) (bool, error) {
	r, err := p.scalar(v)
	return err == nil && r.kind == jsontype.Boolean && r.isTrue() == want, err
}

// AllEqualString reports whether the result is an array of at least one
// element and every element is the string.
func (p *Program) AllEqualString(v any, want string) (bool, error) {
	return p.compareItems(v, want, true)
}

// AnyEqualString reports whether the result is an array and an element is the
// string.
func (p *Program) AnyEqualString(v any, want string) (bool, error) {
	return p.compareItems(v, want, false)
}

func (p *Program) scalar(v any) (value, error) {
	fr := p.frame()
	defer p.release(fr)
	r := p.value(fr, v)
	if fr.err != nil {
		return value{}, fr.err
	}
	return r, nil
}

func (p *Program) compareItems(v any, want string, all bool) (bool, error) {
	fr := p.frame()
	defer p.release(fr)
	fr.want, fr.all = want, all
	fr.items, fr.matched = 0, 0
	isArray := p.each(fr, p.input(fr, v))
	if fr.err != nil {
		return false, fr.err
	}
	if all {
		return isArray && fr.items > 0 && fr.matched == fr.items, nil
	}
	return fr.matched > 0, nil
}

// value evaluates the expression in a frame.
func (p *Program) value(fr *frame, v any) value { return p.code(fr, p.input(fr, v)) }

func (p *Program) input(fr *frame, v any) value {
	if p.own != nil && reflect.TypeOf(v) == p.root {
		own := reflect.ValueOf(v).Elem()
		if !own.IsValid() {
			return value{}
		}
		return value{kind: jsontype.Object, held: own, plan: p.own}
	}
	return fr.sound(p.expr.root.Offset, fromAny(v))
}

func (p *Program) frame() *frame { return p.frames.Get().(*frame) }

// release keeps the frame for another evaluation, without what it refers to.
func (p *Program) release(fr *frame) {
	fr.err, fr.want = nil, ""
	fr.steps, fr.bytes = 0, 0
	clear(fr.slots)
	clear(fr.args)
	p.frames.Put(fr)
}
