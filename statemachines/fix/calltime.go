package fix

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// keepCallTime lets each poll take as long as the old one, where that says how long.
func (f *fragment) keepCallTime() {
	kept := f.node(f.poll).Get("TimeoutSeconds")
	if f.starter != nil || kept == nil || kept.Kind != jsontree.Number {
		return
	}
	for _, s := range f.states {
		if s["Type"] == string(asl.TypeTask) && s["TimeoutSeconds"] != nil {
			s["TimeoutSeconds"] = kept.Raw()
		}
	}
}

// noteCallTime says how long a poll may take now, where the old one did not say that; empty elsewhere.
func (f *fragment) noteCallTime() string {
	seconds, isNew := f.states[f.poll.Name]["TimeoutSeconds"].(float64)
	if f.starter != nil || !isNew {
		return ""
	}
	const format = "a call of %q that takes longer than %s fails with States.Timeout: it has TimeoutSeconds now"
	return fmt.Sprintf(format, f.poll.Name, spell(time.Duration(seconds)*time.Second))
}
