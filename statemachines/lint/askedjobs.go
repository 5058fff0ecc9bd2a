package lint

import (
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// askedJobs is the argument by which a Task asks for several jobs, and how many it names; 0 if that is not known. There
// is none if it is not the only such argument.
func (c *checker) askedJobs(poll *asl.State) (argument string, template *asl.Template, count int) {
	operation := c.types.Operation(poll)
	if operation == nil {
		return c.askedOfUser(poll)
	}
	if operation.Input == nil {
		return "", nil, 0
	}
	arguments := c.types.Arguments(poll)
	asked := 0
	for _, m := range operation.Input.Members {
		isList := m.Shape.Type == catalog.List && m.Shape.Element != nil && len(m.Shape.Element.Shape.Enum) == 0
		if !isList || !asksForJobs().MatchString(m.Name) {
			continue
		}
		name := javasdk.MemberName(m.Name)
		given, computed := arguments.Member(name), findMember(argumentsOf(poll), name)
		if computed == nil && !given.IsArray() {
			continue
		}
		asked++
		argument, template = m.Name, computed
		count, _ = given.Len()
	}
	if asked != 1 || count > mostListed {
		return "", nil, 0
	}
	return argument, template, count
}

// askedOfUser is askedJobs of a Task that asks a function or an API: the one list in what it sends whose name names jobs.
func (c *checker) askedOfUser(poll *asl.State) (argument string, template *asl.Template, count int) {
	asked := 0
	var look func(t *asl.Template)
	look = func(t *asl.Template) {
		for _, m := range t.Object {
			if isList := m.Value.Path != nil || m.Value.Expression != nil || len(m.Value.Array) > 0; isList && asksForJobs().MatchString(m.Name) {
				asked++
				argument, template, count = m.Name, m.Value, len(m.Value.Array)
				continue
			}
			look(m.Value)
		}
	}
	if arguments := argumentsOf(poll); arguments != nil {
		look(arguments)
	}
	if asked != 1 || count > mostListed {
		return "", nil, 0
	}
	return argument, template, count
}

// asksForJobs matches the name of a list that names jobs.
var asksForJobs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(ids|identifiers|arns|names|jobs|tasks|services|clusters|keys|runs)$`)
})

// mostListed is how many jobs of one answer are followed.
const mostListed = 100

// shapeAt is what a shape has at some steps; nil if the model does not know it.
func shapeAt(shape *catalog.Shape, steps []string) *catalog.Shape {
	for _, step := range steps {
		switch {
		case shape == nil:
			return nil
		case step == anItem && shape.Element != nil:
			shape = shape.Element.Shape
		default:
			i := slices.IndexFunc(shape.Members, func(m catalog.Member) bool { return javasdk.MemberName(m.Name) == step })
			if i < 0 {
				return nil
			}
			shape = shape.Members[i].Shape
		}
	}
	return shape
}
