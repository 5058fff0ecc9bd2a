package typecheck

import (
	"maps"
	"slices"
)

// Compared is a part of a value that states compare.
type Compared struct {
	// Path leads to the part: "Jobs[0].StatusReason".
	Path string
	// Texts and Numbers are what it is compared with. Flag tells that it has to be true or false.
	Texts   []string
	Numbers []float64
	Flag    bool
	// Patterns are those that it is compared with: regular expressions, and texts in which * stands for any text. One
	// that is not known is empty.
	Patterns []string
}

// Compared returns the parts that states compare, by their paths.
func (d *Demand) Compared() []Compared {
	found := map[string]*Compared{}
	d.addCompared("", found)
	all := make([]Compared, 0, len(found))
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[path])
	}
	return all
}

func (d *Demand) addCompared(path string, found map[string]*Compared) {
	if d == nil {
		return
	}
	for _, leaf := range d.leaves() {
		flag := leaf.read && leaf.kinds == booleans
		if path != "" && (flag || len(leaf.words)+len(leaf.numbers)+len(leaf.patterns) > 0) {
			c := found[path]
			if c == nil {
				c = &Compared{Path: path}
				found[path] = c
			}
			literals := slices.DeleteFunc(slices.Clone(leaf.words), func(word string) bool { return slices.Contains(leaf.fits, word) })
			c.Texts, c.Numbers = unite(c.Texts, literals), unite(c.Numbers, leaf.numbers)
			c.Flag, c.Patterns = c.Flag || flag, unite(c.Patterns, leaf.patterns)
		}
		for name, member := range leaf.members {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			member.addCompared(inner, found)
		}
		leaf.item.addCompared(path+"[0]", found)
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
		c.Flag = c.Flag || part.Flag
	}
	return all
}
