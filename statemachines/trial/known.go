package trial

import (
	"maps"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Known keeps what a comparison finds of each of its machines, for the next one: who repairs a machine
// step by step compares each with the one before. The zero value knows nothing. It is for one goroutine,
// and for comparisons with the same models.
type Known struct {
	machines map[*asl.StateMachine]*known
	clocks   map[string]bool // whether a state reads the time, by its text
	words    map[stateText]*words
}

// stateText is a state as JSON, in a query language.
type stateText struct {
	text     string
	language asl.QueryLanguage
}

// known is what is found of a machine by itself.
type known struct {
	machine  *asl.StateMachine     // with a value in the place of each placeholder
	states   map[string]*asl.State // in all flows, by name
	texts    map[string]string     // of the states, by name
	reading  *simulate.Reading
	demands  *typecheck.Demands
	counters func() counters
}

// learn finds what there is to know of machines, and forgets all others.
func (k *Known) learn(models typecheck.Models, machines ...*asl.StateMachine) error {
	if k.machines == nil {
		k.machines, k.clocks, k.words = map[*asl.StateMachine]*known{}, map[string]bool{}, map[stateText]*words{}
	}
	maps.DeleteFunc(k.machines, func(m *asl.StateMachine, _ *known) bool { return !slices.Contains(machines, m) })
	for _, m := range machines {
		if k.machines[m] != nil {
			continue
		}
		found, err := newKnown(m, models)
		if err != nil {
			return err
		}
		k.machines[m] = found
	}
	return nil
}

func newKnown(m *asl.StateMachine, models typecheck.Models) (*known, error) {
	m, err := runnable(m)
	if err != nil {
		return nil, err
	}
	text := asl.Print(m)
	document, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	texts, err := textsOf(document.Root)
	if err != nil {
		return nil, err
	}
	k := &known{
		machine: m, states: map[string]*asl.State{}, texts: texts, reading: simulate.Read(text),
		counters: sync.OnceValue(func() counters { return findCounters(document.Root) }),
	}
	for s := range m.All {
		k.states[s.Name] = s
	}
	k.demands, err = typecheck.FindDemands(m.State(m.StartAt), m, models)
	return k, err
}

// wordsOf are the texts that a state compares with.
func (k *Known) wordsOf(s stateText) *words {
	w := k.words[s]
	if w == nil {
		w = newWords()
		w.read([]byte(s.text), s.language)
		k.words[s] = w
	}
	return w
}

// readsClock tells whether a state, by its text, reads the time, or what differs from lap to lap.
func (k *Known) readsClock(text string) bool {
	reads, there := k.clocks[text]
	if !there {
		reads = clock().MatchString(text) || asl.ReadsContext(text, "State", "Execution.StartTime", "Execution.RedriveTime", "Execution.RedriveCount")
		k.clocks[text] = reads
	}
	return reads
}
