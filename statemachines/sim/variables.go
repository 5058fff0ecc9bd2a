package sim

import (
	"maps"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// variables are those of a flow, and those around it.
type variables struct {
	outer  *variables
	values map[string]any
	size   *int // of all variables of the execution, in bytes
	// visible caches what all returns.
	visible map[string]any
	version int
	seen    int // version of outer that visible was made from
}

func newVariables(outer *variables) *variables {
	v := &variables{outer: outer}
	if outer == nil {
		v.size = new(int)
	} else {
		v.size = outer.size
	}
	return v
}

// get returns the value of a variable.
func (v *variables) get(name string) (any, bool) {
	for at := v; at != nil; at = at.outer {
		if value, ok := at.values[name]; ok {
			return value, true
		}
	}
	return nil, false
}

// all returns all variables that can be read. It is not to be changed.
func (v *variables) all() map[string]any {
	outer := 0
	if v.outer != nil {
		v.outer.all()
		outer = v.outer.version
	}
	if v.visible != nil && v.seen == outer {
		return v.visible
	}
	v.visible = map[string]any{}
	if v.outer != nil {
		maps.Copy(v.visible, v.outer.visible)
	}
	maps.Copy(v.visible, v.values)
	v.seen = outer
	v.version++
	return v.visible
}

// release gives the room of the variables of a flow back that has ended.
func (v *variables) release() {
	for _, value := range v.values {
		*v.size -= jsonSize(value)
	}
	v.values, v.visible = nil, nil
	v.version++
}

// assign sets variables, unless they would be too large.
func (v *variables) assign(values map[string]*Payload) bool {
	size, grown := 0, 0
	for name, value := range values {
		size += value.bytes()
		grown += value.bytes()
		if old, ok := v.values[name]; ok {
			grown -= jsonSize(old)
		}
	}
	if size > asl.MaxPayloadBytes || *v.size+grown > asl.MaxVariableBytes {
		return false
	}
	*v.size += grown
	if v.values == nil {
		v.values = map[string]any{}
	}
	for name, value := range values {
		v.values[name] = value.Value()
	}
	v.visible = nil
	v.version++
	return true
}
