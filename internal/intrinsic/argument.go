package intrinsic

import "github.com/jobpoller/jobpoller/internal/jsonpath"

// Function is the name of the function without "States.".
func (c *Call) Function() string { return c.function.name[len(prefix):] }

// Argument is an argument of a call as it was written: a path, a call, or else a
// literal.
type Argument struct {
	Path    *jsonpath.Path
	Call    *Call
	Literal any // as encoding/json decodes it with UseNumber
}

// Arguments are the arguments of the call.
func (c *Call) Arguments() []Argument {
	out := make([]Argument, len(c.arguments))
	for i, a := range c.arguments {
		out[i] = Argument{a.path, a.call, a.literal}
		if text, ok := a.literal.(string); ok {
			out[i].Literal = unescape(text)
		}
	}
	return out
}
