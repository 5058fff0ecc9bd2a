package typecheck

import (
	"maps"
	"slices"
)

// Compared is a part of a value that states compare.
type Compared struct {
	// Path leads to the part: "Jobs[0].StatusReason". Steps are its steps, as Narrow takes them.
	Path  string
	Steps []string
	// Texts and Numbers are what it is compared with. Flag tells that it has to be true or false.
	Texts   []string
	Numbers []float64
	Flag    bool
	// Asked tells that a state asks whether the part is there.
	Asked bool
	// Patterns are those that it is compared with: regular expressions, and texts in which * stands for any text. One
	// that is not known is empty.
	Patterns []string
}

// Compared returns the parts that states compare, by their paths.
func (d *Demand) Compared() []Compared {
	found := map[string]*Compared{}
	d.addCompared("", nil, found)
	delete(found, "")
	all := make([]Compared, 0, len(found))
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[path])
	}
	return all
}

// ComparedWhole returns the value itself if states compare it: its Path is empty.
func (d *Demand) ComparedWhole() (c Compared, ok bool) {
	found := map[string]*Compared{}
	d.addCompared("", nil, found)
	if found[""] == nil {
		return Compared{}, false
	}
	return *found[""], true
}

func (d *Demand) addCompared(path string, steps []string, found map[string]*Compared) {
	if d == nil {
		return
	}
	for _, leaf := range d.leaves() {
		flag := leaf.read && leaf.kinds == booleans
		if flag || leaf.asked || len(leaf.words)+len(leaf.numbers)+len(leaf.patterns) > 0 {
			c := found[path]
			if c == nil {
				c = &Compared{Path: path, Steps: steps}
				found[path] = c
			}
			literals := slices.DeleteFunc(slices.Clone(leaf.words), func(word string) bool { return slices.Contains(leaf.fits, word) })
			c.Texts, c.Numbers = unite(c.Texts, literals), unite(c.Numbers, leaf.numbers)
			c.Flag, c.Asked, c.Patterns = c.Flag || flag, c.Asked || leaf.asked, unite(c.Patterns, leaf.patterns)
		}
		for name, member := range leaf.members {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			member.addCompared(inner, append(slices.Clip(steps), name), found)
		}
		leaf.item.addCompared(path+"[0]", append(slices.Clip(steps), "0"), found)
	}
}

// UniteCompared joins the parts that one machine compares with those of another.
func UniteCompared(a, b []Compared) []Compared {
	all := slices.Clone(a)
	for _, part := range b {
		i := slices.IndexFunc(all, func(c Compared) bool { return c.Path == part.Path })
		if i < 0 {
			all = append(all, part)
			continue
		}
		c := &all[i]
		c.Texts, c.Numbers, c.Patterns = unite(c.Texts, part.Texts), unite(c.Numbers, part.Numbers), unite(c.Patterns, part.Patterns)
		c.Flag, c.Asked = c.Flag || part.Flag, c.Asked || part.Asked
	}
	return all
}
