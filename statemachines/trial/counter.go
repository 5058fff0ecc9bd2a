package trial

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// counters are the variables of a machine, by name, that only sums and comparisons with numbers
// read, and that all sums change in one direction.
type counters map[string]*counter

// counter is a variable that counts.
type counter struct {
	limits   []int64 // that it is compared with
	up, down bool    // as its sums go
}

// laps is how many laps more it counts as in the one from a value to another, without coming
// near a number that it is compared with.
func (c *counter) laps(from, to string) int {
	a, err := strconv.ParseInt(from, 10, 64)
	b, err2 := strconv.ParseInt(to, 10, 64)
	if c == nil || err != nil || err2 != nil {
		return 0
	}
	step, laps := b-a, int64(math.MaxInt)
	for _, limit := range c.limits {
		ahead := limit - b
		if step < 0 {
			ahead = -ahead
		}
		each := max(step, -step)
		if ahead >= -each { // the last lap compared up to here
			laps = min(laps, max(0, ahead/each-2))
		}
	}
	return int(laps)
}

// variable is one in a text. sum adds a number to one, and comparison compares one with a number.
var (
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$([\pL_][\pL\d_]*)`) })
	sum      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:States\.MathAdd\(\$(\w+), ?(-?)\d+\)|\{% ?\$(\w+) ?([+-]) ?\d+ ?%\})$`)
	})
	comparison = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\{% ?\$(\w+) ?(?:[<>]=?|!?=) ?(-?\d+) ?%\}|\$(\w+))$`)
	})
)

// findCounters finds the counters of a machine.
func findCounters(machine *jsontree.Node) counters {
	f := &counterFinder{found: counters{}, read: map[string]bool{}}
	f.walk(machine, "", nil, false)
	maps.DeleteFunc(f.found, func(name string, c *counter) bool {
		return f.read[name] || c.up && c.down // which may pass a limit within a lap
	})
	return f.found
}

type counterFinder struct {
	found counters
	read  map[string]bool // by anything else
}

// walk looks at a value, the member of an object, which may assign variables.
func (f *counterFinder) walk(value *jsontree.Node, member string, of *jsontree.Node, assigns bool) {
	for _, m := range value.Members {
		f.walk(m.Value, m.Name, value, member == "Assign")
	}
	for _, item := range value.Items {
		f.walk(item, "", nil, false)
	}
	if value.Kind != jsontree.String || !strings.Contains(value.Text, "$") {
		return
	}
	if assigns && f.adds(value.Text, strings.TrimSuffix(member, ".$")) || f.compares(value.Text, member, of) {
		return
	}
	for _, parts := range variable().FindAllStringSubmatch(value.Text, -1) {
		f.read[parts[1]] = true
	}
}

func (f *counterFinder) adds(text, name string) bool {
	parts := sum().FindStringSubmatch(text)
	if parts == nil || parts[1]+parts[3] != name {
		return false
	}
	f.note(name)
	c, down := f.found[name], parts[2]+parts[4] == "-"
	c.up, c.down = c.up || !down, c.down || down
	return true
}

func (f *counterFinder) compares(text, member string, rule *jsontree.Node) bool {
	parts := comparison().FindStringSubmatch(text)
	switch {
	case parts == nil:
		return false
	case parts[1] != "" && member == "Condition":
		return f.limit(parts[1], parts[2])
	case parts[3] != "" && member == "Variable":
		for _, m := range rule.Members {
			if m.Value.Kind == jsontree.Number && strings.HasPrefix(m.Name, "Numeric") {
				return f.limit(parts[3], string(m.Value.Raw()))
			}
		}
	}
	return false
}

func (f *counterFinder) limit(name, number string) bool {
	limit, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return false
	}
	f.note(name, limit)
	return true
}

func (f *counterFinder) note(name string, limits ...int64) {
	if f.found[name] == nil {
		f.found[name] = &counter{}
	}
	f.found[name].limits = append(f.found[name].limits, limits...)
}
