package catalogimport

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// tableList is how past jobs are listed, which the other tables do not say.
type tableList struct {
	tableJob

	list    *catalog.ListCall // nil if the table says why there is none
	without []*jsontree.Node  // where it does
}

// listOf returns what is known of the list of a job.
func (t *tables) listOf(name string, file *table, n *jsontree.Node) *tableList {
	if t.lists[name] == nil {
		service, start, _ := strings.Cut(name, ":")
		t.lists[name] = &tableList{tableJob: tableJob{table: file, node: n, service: service, start: start}}
	}
	return t.lists[name]
}

func (t *tables) readLists(file *table, root *jsontree.Node) {
	file.Object(root, "a table of lists", map[string]func(*jsontree.Node){
		"jobs": func(n *jsontree.Node) {
			previous := ""
			file.object(n, "lists by jobs", func(name string, n *jsontree.Node) {
				file.inOrder(n, &previous, name)
				l := t.listOf(name, file, n)
				l.node, l.list = n, &catalog.ListCall{}
				file.readList(n, l.list)
			})
		},
		"withoutList": file.List(func(n *jsontree.Node) {
			var jobs []string
			file.Object(n, "jobs without a list", map[string]func(*jsontree.Node){
				"jobs": file.words(&jobs), "reason": file.source(),
			}, "jobs", "reason")
			for _, name := range jobs {
				l := t.listOf(name, file, n.Get("jobs"))
				l.without = append(l.without, n)
			}
		}),
	}, "jobs", "withoutList")
}

func (t *table) readList(n *jsontree.Node, to *catalog.ListCall) {
	t.Object(n, "a list call", map[string]func(*jsontree.Node){
		"operation": t.word(&to.Operation), "arguments": t.arguments(&to.Arguments), "needs": t.words(&to.Needs),
		"items": t.form(&to.Items, memberPath, "a path of members"), "where": t.valuesByPath(&to.Where, memberPath, "Action"),
		"start": t.form(&to.Start, memberPath, "a path of members"), "end": t.form(&to.End, memberPath, "a path of members"),
		"describe": t.arguments(&to.Describe), "token": t.word(&to.Token), "next": t.word(&to.Next), "source": t.source(), "timesSource": t.source(),
	}, "operation", "items")
	if n.Kind != jsontree.Object {
		return
	}
	if times := to.Start != "" && to.End != ""; times == (to.Describe != nil) || (to.Start == "") != (to.End == "") {
		t.Report(n.Problem("a list needs start and end, or else describe"))
	}
	if to.Next != "" && (to.Token == "" || to.Next == to.Token) {
		t.Report(n.Problem("next is for another name than token has; remove it"))
	}
}

// memberPath is a path of members in an answer, or in an item of it.
var memberPath = regexp.MustCompile(`^\w+(\.\w+)*$`)

// checkLists reports jobs of one table that the other does not know, and jobs that the
// table of lists has twice.
func (t *tables) checkLists() {
	if !slices.ContainsFunc(t.files, func(f *table) bool { return f.name == listsTable }) {
		return
	}
	var known []string
	for _, j := range t.jobs {
		name := j.service + ":" + j.start
		known = append(known, name)
		if t.lists[name] == nil {
			j.report("start", "%s does not say how past jobs of %s are listed; add the list, or the job to withoutList", listsTable, name)
		}
	}
	for _, name := range namesOf(t.lists) {
		l := t.lists[name]
		if !slices.Contains(known, name) {
			l.suggest("", name, known, "%s has no job %q", jobsTable, name)
		}
		for i, n := range l.without {
			if i > 0 || l.list != nil {
				l.table.Report(n.Problem("%s stands twice, or has a list; keep one", name))
			}
		}
	}
}

// pageTokens are the names that members have by which services page.
var pageTokens = []string{"nexttoken", "marker", "startingtoken", "pagetoken", "lastevaluatedkey"}

// check reports a list that does not fit the models.
func (l *tableList) check(j *tableJob, batch *catalog.Batch, op, describe *catalog.Operation) {
	for _, name := range namesOf(l.list.Arguments) {
		l.checkArgument("arguments", name, l.list.Arguments[name], op, &jsontype.Type{Kind: jsontype.Object})
	}
	for _, name := range l.list.Needs {
		if member := op.Input.Member(name); member == nil || member.Required {
			l.report("needs", "the input of %s has no optional member %q", op.Name, name)
		}
	}
	l.checkPages(op)
	list, ok := l.checkExpression("items", l.list.Items, op.Output.Describe())
	if !ok {
		return
	}
	item := shapeAt(op.Output, l.list.Items)
	if list.Kind != jsontype.Array || item == nil || item.Element == nil {
		l.report("items", "expected the path of a list in the answer of %s", op.Name)
		return
	}
	item = item.Element.Shape
	for _, path := range namesOf(l.list.Where) {
		t, ok := l.checkExpression("where", path, item.Describe())
		for _, value := range l.list.Where[path] {
			if ok && !slices.Contains(t.Enum(), value) {
				l.suggest("where", value, t.Enum(), "%s never is %q", path, value)
			}
		}
	}
	if l.list.Describe == nil {
		l.checkTime("start", l.list.Start, item)
		l.checkTime("end", l.list.End, item)
		return
	}
	l.checkCall("describe", l.list.Describe, describe, &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"input": op.Input.Describe(), "item": item.Describe(),
	}})
	l.checkShared(batch)
	if j.job.StartTime == "" || j.job.EndTime == "" {
		l.report("describe", "the answer of %s has no startTime and endTime in %s", describe.Name, jobsTable)
	}
}

// checkShared reports arguments of the describe call that the jobs of one call share, and
// that differ by the item.
func (l *tableList) checkShared(batch *catalog.Batch) {
	if batch == nil {
		return
	}
	for _, name := range batch.Shared {
		expr, err := jmespath.Parse(l.list.Describe[name])
		if err == nil && slices.ContainsFunc(expr.Paths(), func(path []string) bool { return len(path) == 0 || path[0] != "input" }) {
			l.report("describe/"+name, "jobs of one call of %s share %s: it must not read the item", batch.Operation, name)
		}
	}
}

// checkPages reports members for pages that the operation does not have, or has though
// the table does not say so.
func (l *tableList) checkPages(op *catalog.Operation) {
	if l.list.Token == "" {
		if op.Input == nil {
			return
		}
		for _, m := range op.Input.Members {
			if slices.Contains(pageTokens, strings.ToLower(m.Name)) {
				l.report("token", "%s lists page by page; add the token %s", op.Name, m.Name)
			}
		}
		return
	}
	for _, at := range []struct {
		pointer, name, of string
		shape             *catalog.Shape
	}{
		{"token", l.list.Token, "input", op.Input},
		{"next", firstOf(l.list.Next, l.list.Token), "answer", op.Output},
	} {
		if member := at.shape.Member(at.name); member == nil || member.Shape.Type != catalog.String {
			l.report(at.pointer, "the %s of %s has no string %q", at.of, op.Name, at.name)
		}
	}
}
