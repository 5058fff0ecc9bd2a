package jsonata

import "context"

// Limits bound one evaluation. They count what an expression does, so that it
// ends the same way on any machine.
type Limits struct {
	// Depth is how deep evaluations nest. Each node of the syntax tree is one, so
	// a sum of 100 numbers nests 100 deep.
	Depth int
	// Steps are units of work that take 100 ns of processor time at most.
	Steps int
	// Bytes are those of the values that an evaluation holds at a time.
	Bytes int
	// Eval makes $eval a function, which JSONata has and Step Functions has not.
	Eval bool
}

// StepFunctions are the limits of Step Functions. AWS evaluates 100 levels deep,
// for a second, in an amount of memory that it does not say.
var StepFunctions = Limits{Depth: 100, Steps: 10_000_000, Bytes: 96 << 20}

// maxValueNesting is how deep arrays and objects nest in a value that an
// expression makes: functions that walk values need a stack for it.
const maxValueNesting = 1_000

// Texts are those of AWS.
var (
	errDepth = &Error{
		Code:    codeLimit,
		Message: "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive",
	}
	errTime   = &Error{Code: codeLimit, Message: "Expression evaluation timeout: Check for infinite loop"}
	errMemory = &Error{Message: "Expression evaluation memory limit exceeded: Check for excessive memory usage"}
)

// budget is what is left of the limits. Everything that can repeat takes from
// it before it works.
type budget struct {
	limits Limits
	ctx    context.Context //nolint:containedctx // of one evaluation, which the budget lasts for
	depth  int
	steps  int // taken
	next   int // steps at which the context is looked at
	bytes  int // held

	// measured is the last value that release measured: it often goes through
	// one function after the other.
	measured     any
	measuredSize int
}

func isMade(v any) bool {
	switch v.(type) {
	case *list, *object:
		return true
	}
	return false
}

// stepsBetweenLooks is how often the context is looked at.
const stepsBetweenLooks = 20_000

func newBudget(ctx context.Context, limits Limits) budget {
	return budget{limits: limits, ctx: ctx, next: min(stepsBetweenLooks, limits.Steps)}
}

// throw ends the evaluation with an error.
func (b *budget) throw(err error) { panic(thrown{err}) }

// thrown is the panic that carries an error to Eval.
type thrown struct{ err error }

// step takes n steps.
func (b *budget) step(n int) {
	b.steps += n
	if b.steps >= b.next || b.steps < 0 {
		b.look()
	}
}

func (b *budget) look() {
	if b.steps > b.limits.Steps || b.steps < 0 {
		b.throw(errTime)
	}
	if err := b.ctx.Err(); err != nil {
		b.throw(err)
	}
	b.next = min(b.steps+stepsBetweenLooks, b.limits.Steps+1)
}

// bytesPerStep is how many bytes can be made in a step.
const bytesPerStep = 256

// hold takes n bytes, before they are allocated. Making them takes steps, too.
func (b *budget) hold(n int) {
	if n < 0 || n > b.limits.Bytes {
		b.throw(errMemory)
	}
	if b.bytes += n; b.bytes > b.limits.Bytes {
		b.throw(errMemory)
	}
	b.step(1 + n/bytesPerStep)
}

// releaseAfter is how many bytes have to be held more than before for a look at
// how many of them the result still needs.
const releaseAfter = 1 << 10

// release gives back the bytes that a part of the evaluation held and that are
// garbage now: all since it began, but for those of its result. It is for where
// nothing else of what was made since can be reached.
func (b *budget) release(began int, result any) {
	if b.bytes-began < releaseAfter {
		return
	}
	size := b.measuredSize
	if !isMade(result) || result != b.measured {
		var ok bool
		if size, ok = b.sizeOf(result, b.bytes-began, 0); !ok {
			return
		}
		b.measured, b.measuredSize = result, size
	}
	b.bytes = min(b.bytes, began+size)
}

// sizeOf counts the bytes of a value up to a limit. It gives up at functions,
// which can hold anything.
func (b *budget) sizeOf(v any, limit, level int) (size int, ok bool) {
	if level > maxValueNesting {
		return 0, false
	}
	b.step(1)
	switch v := v.(type) {
	case string:
		size = len(v)
	case float64:
		size = 8
	case *list:
		size = listBytes + cap(v.items)*slotBytes
		for _, item := range v.items {
			if size > limit {
				return 0, false
			}
			part, ok := b.sizeOf(item, limit-size, level+1)
			if !ok {
				return 0, false
			}
			size += part
		}
	case *object:
		size = objectBytes + len(v.names)*memberBytes
		for i, name := range v.names {
			if size > limit {
				return 0, false
			}
			part, ok := b.sizeOf(v.values[i], limit-size, level+1)
			if !ok {
				return 0, false
			}
			size += part + len(name)
		}
	default:
		if kindOf(v) == kindFunction {
			return 0, false
		}
	}
	return size, size <= limit
}

// Bytes that values take: the header of an array, an item, an object, a member
// with its place in the index.
const (
	listBytes   = 48
	slotBytes   = 16
	objectBytes = 80
	memberBytes = 96
)
