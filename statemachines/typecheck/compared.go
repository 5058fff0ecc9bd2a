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
	// Matches tells that it is compared with a pattern, too.
	Matches bool
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
		if path != "" && (flag || leaf.matched || len(leaf.words)+len(leaf.numbers) > 0) {
			c := found[path]
			if c == nil {
				c = &Compared{Path: path}
				found[path] = c
			}
			literals := slices.DeleteFunc(slices.Clone(leaf.words), func(word string) bool { return slices.Contains(leaf.fits, word) })
			c.Texts, c.Numbers = unite(c.Texts, literals), unite(c.Numbers, leaf.numbers)
			c.Flag, c.Matches = c.Flag || flag, c.Matches || leaf.matched
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
