package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// single is the one job that a poll asks for, in a call whose answer lists jobs: each answer with a status has one item,
// and that is the job.
type single struct {
	steps []string // of the status
	lost  []string // the lists of the answer that name jobs which are not found
	// id stands for what the poll asks by, and member has it in the answer; by is where the poll reads it from. They are
	// empty where the model does not show which member that is.
	id     string
	member string
	by     *operand
}

// findSingle finds the one job that a poll asks for; nil if the answer lists no jobs, or it may ask for several.
func (c *checker) findSingle(poll *asl.State, s *status) *single {
	i := slices.Index(s.steps, anItem)
	operation := c.types.Operation(poll)
	if i < 0 || operation == nil || operation.Input == nil || operation.Output == nil {
		return nil
	}
	item := shapeAt(operation.Output, s.steps[:i+1])
	argument, template := c.askedByID(poll, operation.Input, item)
	if argument == "" {
		return nil
	}
	g := &single{steps: s.steps}
	for _, m := range operation.Output.Members {
		if name := javasdk.MemberName(m.Name); m.Shape.Type == catalog.List && name != s.steps[0] && namesLost().MatchString(m.Name) {
			g.lost = append(g.lost, name)
		}
	}
	g.findID(argument, item)
	if g.member == "" {
		return g
	}
	given := c.types.Arguments(poll).Member(javasdk.MemberName(argument))
	if given.IsArray() {
		given = given.Item(0)
	}
	if literals, known := given.Literals(); known && len(literals) == 1 {
		g.id = literals[0]
		return g
	}
	in, whole := scope{state: poll}, true
	if poll.InputPath != nil {
		in.doc, whole = stepsOf(poll.InputPath)
	}
	if template != nil && whole {
		if f := in.template(template, nil); f.copies {
			g.by = &f.operands[0]
		}
	}
	return g
}

// askedByID is the argument by which a Task asks for one job, as the model names it, and the template of its value, nil
// if nothing is computed in it; empty if it may ask for several.
func (c *checker) askedByID(poll *asl.State, input, item *catalog.Shape) (argument string, template *asl.Template) {
	if argument, template, count := c.askedJobs(poll); count == 1 {
		if template != nil && len(template.Array) == 1 {
			return argument, template.Array[0]
		}
		return argument, nil
	}
	if strings.HasPrefix(c.types.Operation(poll).Name, "List") {
		return "", nil // its arguments are filters
	}
	for _, m := range input.Members {
		if m.Shape.Type != catalog.String || item == nil || !isNameOf(m.Name, item) {
			continue
		}
		name := javasdk.MemberName(m.Name)
		if template = findMember(argumentsOf(poll), name); template != nil || !c.types.Arguments(poll).Member(name).IsMissing() {
			return m.Name, template
		}
	}
	return "", nil
}

// isNameOf tells whether a member names the items of a shape themselves, as DBInstanceIdentifier does a DBInstance,
// and not what each is of, as StackName does a StackEvent.
func isNameOf(member string, item *catalog.Shape) bool {
	of := nameOfItem().FindStringSubmatch(member)
	return of != nil && strings.EqualFold(of[1], item.Name) &&
		slices.ContainsFunc(item.Members, func(m catalog.Member) bool { return m.Name == member })
}

// findID finds the member of an item that has what an argument asks for: SnapshotId for SnapshotIds.
func (g *single) findID(argument string, item *catalog.Shape) {
	if item == nil {
		return
	}
	for _, m := range item.Members {
		if m.Shape.Type == catalog.String && (strings.EqualFold(m.Name, argument) || strings.EqualFold(m.Name+"s", argument)) {
			g.id, g.member = argument, javasdk.MemberName(m.Name)
			return
		}
	}
}

// namesLost matches a list that names jobs which are not found, or not answered.
var namesLost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(failures|errors)$|notfound$|^(unprocessed|missing|invalid)`)
})

// answer is an answer about the job.
func (g *single) answer(v typecheck.Value) typecheck.Value {
	if g == nil {
		return v
	}
	narrowed := g.list(v, g.steps)
	for _, name := range g.lost {
		if none := typecheck.WithItems(narrowed, []string{name}, 0, nil); !none.IsNothing() {
			narrowed = none
		}
	}
	if narrowed.IsNothing() {
		return v
	}
	return narrowed
}

// list is a part of an answer with one item in each list on the way to the status; the first one's is the job.
func (g *single) list(v typecheck.Value, steps []string) typecheck.Value {
	i := slices.Index(steps, anItem)
	if i < 0 {
		return v
	}
	return typecheck.WithItems(v, steps[:i], 1, func(_ int, item typecheck.Value) typecheck.Value {
		if g.member != "" && len(steps) == len(g.steps) {
			if named := typecheck.Narrow(item, []string{g.member}, g.id); !named.IsNothing() {
				item = named
			}
		}
		return g.list(item, steps[i+1:])
	})
}

// enter is the environment of the poll that asks for the job.
func (g *single) enter(env typecheck.Env) typecheck.Env {
	if g == nil || g.by == nil {
		return env
	}
	if narrowed := env.Narrow(g.by.variable, g.by.path(), g.id); narrowed.IsReachable() {
		return narrowed
	}
	return env
}
