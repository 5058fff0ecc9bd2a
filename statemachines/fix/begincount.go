package fix

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// addedTo finds a member of a state's input to which the state adds a number.
var addedTo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$states\.input\.([\w.]+)\s*\+\s*[1-9]|States\.MathAdd\(\s*\$\.([\w.]+)\s*,\s*[1-9]`)
})

// beginCounts sets the members of a drawn input to nothing that the loop counts in: a drawn count
// may be the last.
func (l *loop) beginCounts(input any) {
	for _, s := range l.states {
		for _, m := range addedTo().FindAllStringSubmatch(string(l.node(s).Raw()), -1) {
			at, steps := input, strings.Split(m[1]+m[2], ".")
			for _, name := range steps[:len(steps)-1] {
				object, _ := at.(map[string]any)
				at = object[name]
			}
			last := steps[len(steps)-1]
			if object, ok := at.(map[string]any); ok && object[last] != nil {
				object[last] = json.Number("0")
			}
		}
	}
}
