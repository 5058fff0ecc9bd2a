package trial

import (
	"maps"
	"slices"
)

// chooseTasks chooses the Tasks to vary: those of the loops that changes are in or next to,
// those that changed, and the first behind them.
func (p *pair) chooseTasks() {
	for _, s := range []*subject{p.before, p.after} {
		g := newGraph(s.machine)
		loopOf := g.loops()
		maps.Copy(p.loops, loopOf)
		for name := range p.changed {
			for _, at := range slices.Concat([]string{name}, g.after[name], g.backTo(name, loopOf)) {
				if loopOf[at] == nil && slices.Contains(g.after[name], at) {
					p.exits[at] = true
					continue
				}
				p.near[at] = true
				for _, inside := range loopOf[at] {
					p.near[inside] = true
					for _, next := range g.after[inside] {
						p.exits[next] = true
					}
				}
			}
		}
	}
	near := func(name string) bool { return p.near[name] || p.exits[name] }
	for _, c := range sortedCallees(p.before) {
		if near(c.state.Name) || p.whole {
			p.tasks = append(p.tasks, c.state.Name)
		}
	}
	for _, c := range sortedCallees(p.after) {
		if name := c.state.Name; near(name) && !slices.Contains(p.tasks, p.after.role(name)) {
			p.tasks = append(p.tasks, name)
		}
	}
}

// widen adds the Tasks from which the machine leads to the states that no run got to: one of them may have to fail,
// so that a run gets there. It tells whether there are any.
func (p *pair) widen(unmet []string) (bool, error) {
	leads := map[string]bool{}
	for _, s := range []*subject{p.before, p.after} {
		g := newGraph(s.machine)
		for _, name := range unmet {
			visit(name, g.ways(), leads, func(string) {})
		}
	}
	var added []string
	for _, c := range sortedCallees(p.before) {
		if name := c.state.Name; leads[name] && !slices.Contains(p.tasks, name) {
			added = append(added, name)
			p.near[name] = true
			for _, inside := range p.loops[name] {
				p.near[inside] = true
			}
		}
	}
	if added == nil {
		return false, nil
	}
	p.tasks, p.report = append(p.tasks, added...), &Report{}
	err := p.varyTasks(added)
	p.cut = p.newCut()
	return true, err
}
