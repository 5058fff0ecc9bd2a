package catalogimport

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// tablePresence says when a member of a describe call's answer is there.
type tablePresence struct {
	node                     *jsontree.Node
	service, operation, path string
	when                     catalog.Presence
	used                     bool
}

func (t *tables) readPresence(file *table, root *jsontree.Node) {
	services, operations, paths := "", "", ""
	file.object(root, "operations by services", func(key string, n *jsontree.Node) {
		file.inOrder(n, &services, key)
		operations = ""
		file.object(n, "members by operations", func(operation string, n *jsontree.Node) {
			file.inOrder(n, &operations, operation)
			paths = ""
			file.object(n, "rows by paths of members", func(path string, n *jsontree.Node) {
				file.inOrder(n, &paths, path)
				p := &tablePresence{node: n, service: key, operation: operation, path: path}
				file.Object(n, "a row", map[string]func(*jsontree.Node){
					"when": file.word((*string)(&p.when)), "source": file.source(),
				}, "when", "source")
				known := []catalog.Presence{
					catalog.AfterFailure, catalog.AfterEnd, catalog.AfterSuccess, catalog.AfterEndOrNever, catalog.AfterFirst, catalog.AfterPart, catalog.WithSome,
				}
				if !slices.Contains(known, p.when) {
					file.Report(n.Problem("expected one of %q as \"when\", found %q", known, p.when))
				}
				t.presence = append(t.presence, p)
			})
		})
	})
}

// addPresence says when members of the answer of a job's describe call are there, as their
// meaning does: the reason of a failure, and the time of the end. What the model requires is
// always there.
func (b *builder) addPresence(j *catalog.Job, describe *catalog.Operation) {
	for path, when := range map[string]catalog.Presence{j.Message: catalog.AfterFailure, j.EndTime: catalog.AfterEnd} {
		path = strings.TrimSuffix(path, "[0]")
		if timePath.MatchString(path) && !isRequired(describe.Output, path) {
			describe.SetPresence(path, when)
		}
	}
}

// addPresenceRows says when members of answers are there, as the table does.
func (b *builder) addPresenceRows() {
	for _, p := range b.tables.presence {
		describe := b.service.Operations[p.operation]
		if p.service != b.service.Key || describe == nil || !describe.Reads() {
			continue
		}
		p.used = true
		if !timePath.MatchString(p.path) || !hasMember(describe.Output, p.path) {
			b.tables.file(presenceTable).Report(p.node.Problem("the answer of %s has no member %s", describe.Name, p.path))
		}
		describe.SetPresence(p.path, p.when)
	}
}

// spreadPresence gives other operations of the service that read, and which have the same structure at
// another path of their answers, what is known of its members: DescribeStep, as ListSteps.
func (b *builder) spreadPresence() {
	type place struct{ structure, member string }
	known := map[place]catalog.Presence{}
	unsure := map[place]bool{}
	for _, name := range slices.Sorted(maps.Keys(b.service.Operations)) {
		op := b.service.Operations[name]
		for path, when := range op.Presence {
			at := place{structureAt(op.Output, path), path[strings.LastIndex(path, ".")+1:]}
			unsure[at] = unsure[at] || known[at] != "" && known[at] != when
			known[at] = when
		}
	}
	for _, op := range b.service.Operations {
		if !op.Reads() {
			continue
		}
		forStructures(op.Output, "", nil, func(s *catalog.Shape, path string) {
			for i := range s.Members {
				name := s.Members[i].Name
				when, member := known[place{s.Name, name}], path+name
				if when == "" || unsure[place{s.Name, name}] || s.Members[i].Required || op.Presence[member] != "" {
					continue
				}
				op.SetPresence(member, when)
			}
		})
	}
}

// structureAt is the name of the structure with the last member of a path.
func structureAt(shape *catalog.Shape, path string) string {
	i := strings.LastIndex(path, ".")
	if i < 0 {
		return shape.Name
	}
	m := memberAt(shape, path[:i])
	if m == nil {
		return ""
	}
	if strings.HasSuffix(path[:i], "[0]") {
		return m.Shape.Element.Shape.Name
	}
	return m.Shape.Name
}

// forStructures calls a function with each structure of an answer, and what its members' paths
// start with. Left out are a structure inside of itself, and a list in an item of a list: its
// items are other jobs than the one that is asked for.
func forStructures(s *catalog.Shape, path string, around []*catalog.Shape, do func(s *catalog.Shape, path string)) {
	if s == nil || slices.Contains(around, s) {
		return
	}
	do(s, path)
	around = append(slices.Clip(around), s)
	for i := range s.Members {
		m := &s.Members[i]
		switch next := path + m.Name; {
		case m.Shape.Type == catalog.Structure:
			forStructures(m.Shape, next+".", around, do)
		case m.Shape.Type == catalog.List && !strings.Contains(path, "[0]") && m.Shape.Element.Shape.Type == catalog.Structure:
			forStructures(m.Shape.Element.Shape, next+"[0].", around, do)
		}
	}
}

// memberAt is the member that a path leads to; nil if there is none.
func memberAt(shape *catalog.Shape, path string) *catalog.Member {
	var member *catalog.Member
	for name := range strings.SplitSeq(path, ".") {
		name, first := strings.CutSuffix(name, "[0]")
		if member = shape.Member(name); member == nil {
			return nil
		}
		if shape = member.Shape; first {
			if shape.Element == nil {
				return nil
			}
			shape = shape.Element.Shape
		}
	}
	return member
}

func hasMember(shape *catalog.Shape, path string) bool { return memberAt(shape, path) != nil }

func isRequired(shape *catalog.Shape, path string) bool {
	m := memberAt(shape, path)
	return m == nil || m.Required
}
