package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// laterMember is a member of an answer that by its name is there only after a failure, or after an end.
type laterMember struct {
	path string
	list bool // empty until then
	end  bool
}

// laterIn are such members of an answer, the outermost ones.
func laterIn(s *catalog.Shape, path string, found []laterMember) []laterMember {
	const deepest = 4 // shapes may lead back to themselves
	if s == nil || s.Type != catalog.Structure || strings.Count(path, ".") >= deepest {
		return found
	}
	hasStatus := slices.ContainsFunc(s.Members, func(m catalog.Member) bool { return statusName().MatchString(m.Name) })
	for i := range s.Members {
		m := &s.Members[i]
		at, isList := strings.TrimPrefix(path+"."+m.Name, "."), m.Shape.Type == catalog.List
		switch ofEnd := hasStatus && m.TellsEnd(); {
		case !m.Required && (ofEnd || m.TellsFailure()):
			found = append(found, laterMember{at, isList, ofEnd})
		case isList && m.Shape.Element != nil:
			found = laterIn(m.Shape.Element.Shape, at+"[]", found)
		default:
			found = laterIn(m.Shape, at, found)
		}
	}
	return found
}

// checkAbsentByName warns of fields that read such a member while the job runs. The model does not say when it is there.
func (c *checker) checkAbsentByName(r *reading, p *polled, output *catalog.Shape) {
	if slices.Contains(c.off, typecheck.AbsentMember) {
		return
	}
	running, with := c.whileRunning(r, p)
	if running.IsNothing() {
		return
	}
	for _, m := range laterIn(output, "", nil) {
		name := javasdk.MemberName(lastName(m.path))
		if !c.names(name) {
			continue
		}
		path := m.path
		if m.list {
			path += "[]"
		}
		steps, _ := spellSteps(output, path)
		in := c.types.InputAfter(r.Poll, typecheck.Without(c.types.Result(r.Poll), steps))
		for _, f := range c.types.FindAbsent(r.Poll, in, typecheck.Without(running, steps)) {
			s := c.machine.StateAt(f.Pointer)
			if c.isReported(typecheck.AbsentMember, f.Pointer) || r.status == nil && s != r.Poll {
				continue
			}
			c.reportAbsentByName(r, f.Problem, m, with)
		}
	}
}

// whileRunning is the answer of a poll about a job that runs, with its status, such as "Status RUNNING": as far as
// the loop is read, while it polls on. It is nothing if no name of a status says that the job runs.
func (c *checker) whileRunning(r *reading, p *polled) (answer typecheck.Value, with string) {
	statuses := p.statuses
	if r.status != nil {
		statuses = []*status{r.status}
	}
	answer = c.types.Result(r.Poll)
	for i, s := range statuses {
		going := slices.DeleteFunc(slices.Clone(s.values), func(value string) bool {
			return s.meaning(s.judges, value) != MeansRunning || r.status != nil && !mayPollOn(r.routes[value])
		})
		if i == 0 {
			with = javasdk.MemberName(lastName(s.path)) + " " + join(going, "or")
		}
		if len(going) == 0 {
			return typecheck.Nothing(), ""
		}
		answer = typecheck.NarrowTo(answer, s.steps, going)
	}
	return answer, with
}

// reportAbsentByName reports what reads a member that an answer may lack by its name.
func (c *checker) reportAbsentByName(r *reading, p diag.Problem, m laterMember, with string) {
	s := c.machine.StateAt(p.Pointer)
	fails, advice := c.adviseAbsent(s, p.Pointer)
	lacks, tells := "missing", "tells of a failure"
	if m.end {
		tells = "is the time of an end"
	}
	if m.list {
		lacks = "empty"
		if s.QueryLanguage != asl.JSONata && strings.HasPrefix(p.Pointer, s.Position.Pointer+"/ResultSelector") {
			advice = "select the whole list"
		}
	}
	if p.Severity = diag.Warning; r.Derived != nil {
		p.Severity = diag.Note
	}
	p.Message = fmt.Sprintf("%s may be %s in the answer of %s with %s, as it %s by its name: then the state fails with %s; %s",
		javasdk.MemberPath(m.path), lacks, r.Operation, with, tells, fails, advice)
	c.findings = append(c.findings, Finding{Problem: p, Rule: typecheck.AbsentMember, Subjects: []string{javasdk.MemberPath(m.path)}})
}
