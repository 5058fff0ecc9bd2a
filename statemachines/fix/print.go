package fix

import (
	"encoding/json"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// print writes the states of the fragment, as asl.Print does.
func (f *fragment) print() (map[string]string, error) {
	all := map[string]any{}
	for name, s := range f.states {
		all[name] = s
	}
	for _, s := range f.aside {
		all[s.Name] = object{"Type": "Pass", "Next": s.Next}
	}
	for _, s := range f.states {
		text, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		document, err := jsontree.Parse(text)
		if err != nil {
			return nil, err
		}
		for _, target := range transitionsOf(document.Root) {
			if all[target.Text] == nil {
				all[target.Text] = object{"Type": "Pass", "End": true}
			}
		}
	}
	text, err := json.Marshal(object{"StartAt": f.start, "States": all})
	if err != nil {
		return nil, err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, refuse("its states cannot be written: %s", err)
	}
	document, err := jsontree.Parse(asl.Print(m))
	if err != nil {
		return nil, err
	}
	printed := map[string]string{}
	for _, member := range document.Root.Get("States").Members {
		if f.states[member.Name] != nil {
			printed[member.Name] = string(member.Value.Raw())
		}
	}
	return printed, nil
}

// export writes the fragment for people.
func (f *fragment) export() (*Fragment, error) {
	printed, err := f.print()
	if err != nil {
		return nil, err
	}
	out := &Fragment{States: f.flowPointer() + "/States", StartAt: f.start, Begins: f.inside[f.flow.StartAt]}
	for _, s := range f.loop.states {
		out.Replaces = append(out.Replaces, s.Name)
	}
	for _, s := range f.flow.States {
		if !f.staysIn(s.Name) && len(f.targetNodes(f.node(s))) > 0 {
			out.Leads = append(out.Leads, s.Name)
		}
	}
	members := []byte("{")
	for i, name := range f.order {
		if i > 0 {
			members = append(members, ',')
		}
		members = append(members, quote(name)+":"+f.restoreJSON(printed[name], keptValue.toJSON)...)
	}
	members = append(members, '}')
	out.Members = members
	return out, nil
}

// merge is the definition as it has to be: the states of a document, with those of
// the fragment in the place of the loop's.
func (f *fragment) merge(d *document) ([]byte, error) {
	printed, err := f.print()
	if err != nil {
		return nil, err
	}
	flow := nodeAt(d.root, f.flowPointer())
	var changes []change
	if n := flow.Get("StartAt"); n != nil && f.inside[n.Text] {
		changes = append(changes, change{n.Offset, n.End, quote(f.start)})
	}
	states := []byte("{")
	add := func(name, state string) {
		if len(states) > 1 {
			states = append(states, ',')
		}
		states = append(states, quote(name)+":"+state...)
	}
	for _, s := range f.flow.States {
		if f.inside[s.Name] {
			continue
		}
		n := nodeAt(d.root, s.Position.Pointer)
		var own []change
		if !f.isAside(s.Name) {
			for _, target := range f.targetNodes(n) {
				own = append(own, change{target.Offset, target.End, quote(f.start)})
			}
		}
		add(s.Name, string(apply(n.Raw(), n.Offset, own)))
	}
	for _, name := range f.order {
		add(name, f.restoreJSON(printed[name], keptValue.toJSON))
	}
	all := flow.Get("States")
	changes = append(changes, change{all.Offset, all.End, string(append(states, '}'))})
	return apply(d.Text, 0, changes), nil
}
