package catalogimport

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// passRole needs to say to which services.
const passRole = "iam:PassRole"

// names reads which arguments name the resources of a job.
func (t *table) names(to *catalog.Job) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		to.Names = map[string]catalog.Naming{}
		t.object(n, "members of the start call by placeholders", func(placeholder string, n *jsontree.Node) {
			var naming catalog.Naming
			t.Object(n, "paths of members", map[string]func(*jsontree.Node){
				"name": t.words(&naming.Name), "arn": t.words(&naming.ARN), "s3": t.words(&naming.S3), "optional": t.Bool(&naming.Optional),
			})
			if len(naming.Members()) == 0 {
				t.Report(n.Problem("a placeholder needs a member that names it"))
			}
			to.Names[placeholder] = naming
		})
	}
}

// checkNames compares the names of resources with the resources, and with the input of
// the start call.
func (j *tableJob) checkNames(start *catalog.Operation, others ...*catalog.Operation) {
	resources := slices.Clone(start.Resources)
	for _, o := range others {
		if o != nil {
			resources = append(resources, o.Resources...)
		}
	}
	for _, d := range j.job.Dependent {
		resources = append(resources, d.Resource)
		if (d.Action == passRole) != (len(d.PassedTo) > 0) {
			j.report("dependent", "%s and passedTo go together, found %s with %d services", passRole, d.Action, len(d.PassedTo))
		}
	}
	for _, placeholder := range slices.Sorted(maps.Keys(j.job.Names)) {
		if !slices.ContainsFunc(resources, func(r string) bool { return strings.Contains(r, "${"+placeholder+"}") }) {
			j.report("names/"+placeholder, "no resource of the job has ${%s}", placeholder)
		}
		for _, path := range j.job.Names[placeholder].Members() {
			shape := start.Input
			for name := range strings.SplitSeq(path, ".") {
				for shape != nil && shape.Type == catalog.List {
					shape = shape.Element.Shape
				}
				if shape != nil && shape.Type == catalog.Map {
					shape = shape.Element.Shape // by a key of the caller's
					continue
				}
				member := shape.Member(name)
				if member == nil {
					j.report("names/"+placeholder, "the input of %s has no member %s", start.Name, path)
					break
				}
				shape = member.Shape
			}
		}
	}
}
