package typecheck

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// context is the context object where a state reads it, which is made once if there
// is no item of a Map in it.
func (x *scene) context() Value {
	if x.item.kinds() != missing || x.clock != AnyTime || x.c.clock != nil {
		return x.newContext()
	}
	return x.c.once(contextOf{x.state}, x.newContext)
}

// contextOf is the context object of a state, for once.
type contextOf struct{ state *asl.State }

// newContext makes the context object. Source: the developer guide, "Accessing
// execution data from the Context object".
func (x *scene) newContext() Value {
	maybe := func(v Value) Value { return join(v, absent) }
	redriven := maybe
	if x.clock != AnyTime || x.c.clock != nil { // in a loop: a redrive does not come again and again
		redriven = func(Value) Value { return absent }
	}
	state := []field{{"Name", textOf(x.state.Name)}, {"EnteredTime", x.noteTrend(x.c.clock.entered(), Grows)}, {"RetryCount", maybe(anyNumber)}}
	execution := []field{
		{"Id", anyText},
		{"Input", x.c.start},
		{"Name", anyText},
		{"RoleArn", anyText},
		{"StartTime", x.c.clock.started()},
		{"RedriveCount", redriven(anyNumber)},
		{"RedriveTime", redriven(anyText)},
	}
	task := absent
	if x.state.Task != nil {
		task = Value{}
		if r := asl.ParseResource(x.state.Task.Resource); r.WaitsForToken() || r.Direct {
			task = objectOf(newObject([]field{{"Token", anyText}}))
		}
	}
	item := Value{}
	if x.item.kinds() != missing {
		item = objectOf((&record{fields: []field{{"Item", objectOf(&record{fields: []field{{"Index", anyNumber}, {"Value", x.item}}})}}}))
	}
	machine := []field{{"Id", anyText}, {"Name", anyText}}
	return objectOf((&record{fields: []field{
		{"Execution", objectOf(newObject(execution))},
		{"Map", item},
		{"State", objectOf(newObject(state))},
		{"StateMachine", objectOf(newObject(machine))},
		{"Task", task},
	}}))
}
