package catalogimport

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
)

// tablePolledOn has the values of a status for which a waiter of AWS's polls on, as a person has seen them.
type tablePolledOn struct {
	node   *jsontree.Node
	values []string
	used   bool
}

// pathOf is where a status of a waiter stands in the table.
type pathOf struct{ service, waiter, path string }

func (p pathOf) pointer() string {
	return "/" + strings.Join([]string{p.service, p.waiter, p.path}, "/")
}

func (t *tables) readPolledOn(file *table, root *jsontree.Node) {
	t.polledOnRoot = root
	services, waiters, paths := "", "", ""
	file.object(root, "waiters by services", func(service string, n *jsontree.Node) {
		file.inOrder(n, &services, service)
		waiters = ""
		file.object(n, "paths by waiters", func(waiter string, n *jsontree.Node) {
			file.inOrder(n, &waiters, waiter)
			paths = ""
			file.object(n, "values by paths", func(path string, n *jsontree.Node) {
				file.inOrder(n, &paths, path)
				row := &tablePolledOn{node: n}
				file.words(&row.values)(n)
				t.polledOn[pathOf{service, waiter, path}] = row
			})
		})
	})
}

// checkPolledOn reports values of a status that no acceptor of a waiter tells and that nobody has seen: they may be ends.
// It comes after the ends that the table adds. Without the table nothing is checked.
func (b *builder) checkPolledOn() {
	if b.tables.polledOnRoot == nil {
		return
	}
	for _, name := range namesOf(b.service.Waiters) {
		data := b.service.Waiters[name]
		w, err := pollcore.ParseWaiter(name, data.Waiter)
		if err != nil {
			continue // addWaiterEnds reports it, or the service is not whole
		}
		told := map[string][]string{} // by path
		for _, a := range w.Acceptors {
			if m := a.Matcher.Output; m != nil {
				told[m.Path] = append(told[m.Path], m.Expected)
			}
		}
		for _, end := range data.Ends {
			told[end.Path] = append(told[end.Path], end.Values...)
		}
		for _, path := range namesOf(told) {
			values, _ := valuesAt(w, b.service.Operations[data.Operation], path)
			b.checkSeen(pathOf{b.service.Key, name, path}, values, told[path])
		}
	}
}

// checkSeen compares the values of a status that a waiter does not tell with those that a person has seen.
func (b *builder) checkSeen(at pathOf, values, told []string) {
	file, row := b.tables.file(polledOnTable), b.tables.polledOn[at]
	var seen []string
	if row != nil {
		row.used, seen = true, row.values
	}
	left := slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(told, value) })
	for _, value := range left {
		if !slices.Contains(seen, value) {
			file.Report(b.tables.polledOnRoot.Nearest(at.pointer()).Problem(
				"%s of %s %s can be %q, which no acceptor tells: if it is an end, write it into %s, else into this table",
				at.path, at.service, at.waiter, value, waiterEndsTable))
		}
	}
	for _, value := range seen {
		if !slices.Contains(left, value) {
			file.Report(row.node.Problem("%s judges the value %q, or its model does not have it; remove it", at.waiter, value))
		}
	}
}
