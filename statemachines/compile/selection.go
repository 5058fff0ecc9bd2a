package compile

import (
	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
)

// selects reads Options.Output, what the result keeps of a response, and spells it as
// SDK integrations do; nil if there is none.
func (p *poller) selects(out *pollcore.Shape) (*jmespath.Expr, error) {
	if p.options.Output == "" {
		return nil, nil //nolint:nilnil // the whole response
	}
	e, err := jmespath.Parse(p.options.Output)
	if err != nil {
		return nil, wrong("Output: %w", err)
	}
	for _, f := range e.Check(out).Findings {
		if f.Severity > jmespath.Warning {
			return nil, wrong("Output does not fit %s: %w", p.call.Operation.Name, diag.Problems{f.Problem}.Err())
		}
	}
	renamed, err := e.Rename(out, func(_ *pollcore.Shape, name string) string { return javasdk.MemberName(name) })
	if err != nil {
		return nil, wrong("Output: %w", err)
	}
	return renamed, nil
}

// resultOutput is the JSONata of the member output of the result, by that of the
// response. It is null where the expression finds nothing, since a field of a
// state must have a value.
func (p *poller) resultOutput(response string) string {
	if p.selection == nil {
		return response
	}
	value, err := tojsonata.Translate(p.selection, response, p.call.Operation.Output.Described().Respell(javasdk.MemberName)).Argument(nil, nil)
	if err != nil {
		p.refuse("Output: %s", err)
		return response
	}
	return "($selected := " + value + "; $exists($selected) ? $selected : null)"
}
