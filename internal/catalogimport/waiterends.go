package catalogimport

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// tableWaiterEnd is a row of statuses that a waiter of AWS's does not know for ends.
type tableWaiterEnd struct {
	node            *jsontree.Node
	service, waiter string
	end             catalog.WaiterEnd
	used            bool
}

func (t *tables) readWaiterEnds(file *table, root *jsontree.Node) {
	services, waiters := "", ""
	file.object(root, "waiters by services", func(key string, n *jsontree.Node) {
		file.inOrder(n, &services, key)
		waiters = ""
		file.object(n, "rows by waiters", func(waiter string, n *jsontree.Node) {
			file.inOrder(n, &waiters, waiter)
			file.List(func(n *jsontree.Node) {
				e := &tableWaiterEnd{node: n, service: key, waiter: waiter}
				file.Object(n, "a row", map[string]func(*jsontree.Node){
					"path": file.word(&e.end.Path), "values": file.words(&e.end.Values), "source": file.word(&e.end.Source),
				}, "path", "values", "source")
				if len(e.end.Values) == 0 {
					file.Report(n.Problem("a row needs at least one value"))
				}
				t.waiterEnds = append(t.waiterEnds, e)
			})(n)
		})
	})
}

// addWaiterEnds adds to the waiters of AWS's the statuses that end what they wait for, though
// they have no acceptor for them. It comes after the shapes are linked.
func (b *builder) addWaiterEnds() {
	for _, e := range b.tables.waiterEnds {
		data := b.service.Waiters[e.waiter]
		if e.service != b.service.Key || data == nil {
			continue
		}
		e.used = true
		w, err := pollcore.ParseWaiter(e.waiter, data.Waiter)
		if err != nil {
			b.errs = append(b.errs, err)
			continue
		}
		b.checkWaiterEnd(e, w, data)
		data.Ends = append(data.Ends, e.end)
	}
}

// checkWaiterEnd reports a path that the waiter does not read, and values that it judges or
// that its model does not have.
func (b *builder) checkWaiterEnd(e *tableWaiterEnd, w *pollcore.Waiter, data *catalog.WaiterData) {
	file := b.tables.file(waiterEndsTable)
	values, found := valuesAt(w, b.service.Operations[data.Operation], e.end.Path)
	if !found {
		file.Report(e.node.Problem("no acceptor of %s reads %s", w.Name, e.end.Path))
	}
	for _, value := range e.end.Values {
		judged := slices.ContainsFunc(w.Acceptors, func(a pollcore.Acceptor) bool {
			m := a.Matcher.Output
			return m != nil && m.Path == e.end.Path && m.Expected == value
		}) || slices.ContainsFunc(data.Ends, func(before catalog.WaiterEnd) bool {
			return before.Path == e.end.Path && slices.Contains(before.Values, value)
		})
		if judged {
			file.Report(e.node.Problem("%s judges the value %q already; remove it", w.Name, value))
		} else if len(values) > 0 && !slices.Contains(values, value) {
			file.Report(e.node.Problem("%s never is %q", e.end.Path, value).Suggest(value, values...))
		}
	}
}

// valuesAt are the values that the model lists for what acceptors of a waiter read by a
// path; found tells whether one reads it.
func valuesAt(w *pollcore.Waiter, operation *catalog.Operation, path string) (values []string, found bool) {
	for _, r := range pollcore.Readings(w, operation.Input.Describe(), operation.Output.Describe()) {
		if m := w.Acceptors[r.Acceptor].Matcher.Output; m == nil || m.Path != path {
			continue
		}
		if r.Type.Elem != nil {
			return r.Type.Elem.Enum(), true
		}
		return r.Type.Enum(), true
	}
	return nil, false
}
