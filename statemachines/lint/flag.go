package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// flag is a member of the answer that is another truth once the job has ended, such as
// CodeBuild's buildComplete.
type flag struct {
	steps         []string // as Step Functions spells them
	before, after bool
}

// flagsOf are the flags beside a status that the definition looks at.
func (c *checker) flagsOf(s *status) []flag {
	var all []flag
	for _, j := range s.judges {
		if j.entry == nil {
			continue
		}
		for _, told := range j.entry.Telling() {
			before, isFlag := told.Before.(bool)
			after, _ := told.After.(bool)
			steps, _ := spellSteps(j.entry.Operation.Output, told.Member)
			if isFlag && told.Since == catalog.AfterEnd && c.mentions(steps[len(steps)-1]) &&
				!slices.ContainsFunc(all, func(f flag) bool { return slices.Equal(f.steps, steps) }) {
				all = append(all, flag{steps, before, after})
			}
		}
	}
	return all
}
