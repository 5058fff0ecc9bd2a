package lint

import (
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const tagPrefix = "jobpoller: id of "

// tagOf is what stands for the id that a Task returns.
func tagOf(s *asl.State) string { return tagPrefix + s.Position.Pointer }

// taggedTypes are the types of the machine with a text of its own for the id of each job
// that a Task starts, so that it is known where each of them goes.
func (c *checker) taggedTypes() *typecheck.Checker {
	if c.tagged != nil {
		return c.tagged
	}
	results := map[*asl.State]typecheck.Value{}
	for s := range c.machine.All {
		ids := c.startedIDs(s)
		if len(ids) == 0 {
			continue
		}
		v := c.types.Result(s)
		for _, steps := range ids {
			if narrowed := typecheck.Narrow(v, steps, tagOf(s)); !narrowed.IsNothing() {
				v = narrowed
			}
		}
		results[s] = v
	}
	c.tagged = c.types
	if len(results) > 0 {
		if types, err := c.types.With(results); err == nil {
			c.tagged = types
		}
	}
	return c.tagged
}

// startedIDs are the paths to what a Task's answer alone says of the job that it starts: by the catalogue, else by the
// names of its operation.
func (c *checker) startedIDs(s *asl.State) [][]string {
	var ids [][]string
	add := func(output *catalog.Shape, path string) {
		steps, _ := spellSteps(output, path)
		ids = append(ids, steps)
	}
	if s.Task == nil {
		return nil
	}
	if e := c.startedBy(asl.ParseResource(s.Task.Resource)); e != nil {
		for _, expression := range e.Job.Arguments {
			if path, ok := strings.CutPrefix(strings.Trim(expression, "[]"), "output."); ok && simplePath().MatchString(path) {
				add(nil, path)
			}
		}
		return ids
	}
	if operation := c.types.Operation(s); operation != nil && startsByName(s, operation) {
		for _, path := range newIDs(operation) {
			add(operation.Output, path)
		}
	}
	return ids
}

// tagIn is the tag that a value, or its first item, has; empty if it has none.
func tagIn(v typecheck.Value) string {
	for _, one := range []typecheck.Value{v, v.Item(0)} {
		if words, known := one.Literals(); known && len(words) == 1 && strings.HasPrefix(words[0], tagPrefix) {
			return words[0]
		}
	}
	return ""
}
