package fix

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// addedTo finds a member of a state's input to which the state adds a number, or from which it takes one.
var addedTo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$states\.input\.([\w.]+)\s*([-+])\s*[1-9]|States\.MathAdd\(\s*\$\.([\w.]+)\s*,\s*(-?)[1-9]`)
})

// manyLeft is the first value of a count that falls.
const manyLeft = "100000"

// beginCounts sets the members of a drawn input that the loop counts in: to nothing, or to many where the count
// falls. A drawn count may be the last.
func (l *loop) beginCounts(input any) {
	for _, s := range l.states {
		for _, m := range addedTo().FindAllStringSubmatch(string(l.node(s).Raw()), -1) {
			at, steps := input, strings.Split(m[1]+m[3], ".")
			for _, name := range steps[:len(steps)-1] {
				object, _ := at.(map[string]any)
				at = object[name]
			}
			begin := json.Number("0")
			if m[2]+m[4] == "-" {
				begin = manyLeft
			}
			last := steps[len(steps)-1]
			if object, ok := at.(map[string]any); ok && object[last] != nil {
				object[last] = begin
			}
		}
	}
}
