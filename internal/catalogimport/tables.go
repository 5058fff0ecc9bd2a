package catalogimport

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// The tables. Any other JSON file of their folder is a Smithy model.
const (
	jobsTable       = "jobs.json"
	servicesTable   = "services.json"
	signalsTable    = "signals.json"
	listsTable      = "lists.json"
	statusesTable   = "statuses.json"
	leftOutTable    = "left-out.json"
	presenceTable   = "presence.json"
	waiterEndsTable = "waiter-ends.json"
	polledOnTable   = "polled-on.json"
	endingsTable    = "endings.json"
)

// tables are the facts that are kept by hand. The zero value has none.
type tables struct {
	files      []*table
	errs       []error
	services   *table                   // nil without a folder
	named      map[string]*tableService // by key
	jobs       []*tableJob
	signals    map[string]*tableSignals // by service:start
	lists      map[string]*tableList    // by service:start
	statuses   []*tableStatus
	left       []leftOut
	presence   []*tablePresence
	waiterEnds []*tableWaiterEnd
	polledOn   map[pathOf]*tablePolledOn
	// polledOnRoot is nil without that table.
	polledOnRoot *jsontree.Node
	models       []File
	endings      []byte // as it is
}

// table is a file that is read strictly. What does not fit the models is
// reported at its place in the file, as what is wrong in itself.
type table struct {
	jsontree.Reader
	name string
}

// tableService is what services.json says of a service.
type tableService struct {
	node    *jsontree.Node
	names   catalog.Service // arnName, errorPrefix, iamPrefix
	actions map[string]*tableActions
	// resources are the ARNs of operations.
	resources map[string]*tableActions
	used      bool
}

// tableActions are the IAM actions of an operation, or the ARNs that they are on.
type tableActions struct {
	node    *jsontree.Node
	actions []string
	used    bool
}

// tableStatus is the name of the error that an operation has for a status.
type tableStatus struct {
	node               *jsontree.Node
	service, operation string
	status             int
	name               string
	used               bool
}

// leftOut is a waiter or job that the catalogue leaves out.
type leftOut struct{ service, name string }

// readTables reads the tables of a folder. Each may be missing but the one of
// services.
func readTables(files fs.FS) *tables {
	t := &tables{named: map[string]*tableService{}, signals: map[string]*tableSignals{}, lists: map[string]*tableList{}, polledOn: map[pathOf]*tablePolledOn{}}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.errs = append(t.errs, &FileError{".", ErrTable, err})
		return t
	}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".json" || e.IsDir() {
			continue
		}
		text, err := fs.ReadFile(files, e.Name())
		if err != nil {
			t.errs = append(t.errs, &FileError{e.Name(), ErrTable, err})
			continue
		}
		t.read(e.Name(), text)
	}
	for _, j := range t.jobs {
		if t.leavesOut(j.service, j.start) {
			j.report("start", "%s of %s stands in %s too; keep one", j.start, j.service, leftOutTable)
		}
	}
	t.checkSignals()
	t.checkLists()
	if t.services == nil && len(t.errs) == 0 {
		t.errs = append(t.errs, &FileError{servicesTable, ErrTable, errors.New("the folder has no such table, which names the services")})
	}
	return t
}

func (t *tables) read(name string, text []byte) {
	readers := map[string]func(*table, *jsontree.Node){
		jobsTable: t.readJobs, signalsTable: t.readSignals, listsTable: t.readLists, servicesTable: t.readServices,
		statusesTable: t.readStatuses, leftOutTable: t.readLeftOut, presenceTable: t.readPresence, waiterEndsTable: t.readWaiterEnds,
		polledOnTable: t.readPolledOn, endingsTable: func(*table, *jsontree.Node) { t.endings = text },
	}
	read, isTable := readers[name]
	if !isTable {
		t.models = append(t.models, File{name, text})
		return
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		t.errs = append(t.errs, &FileError{name, ErrTable, err})
		return
	}
	file := &table{name: name}
	t.files = append(t.files, file)
	read(file, doc.Root)
}

// problems is all that is wrong in the tables, nil if nothing is. It comes
// after the import, which marks what it used; one that failed did not come to
// use all.
func (t *tables) problems(imported bool) error {
	if imported {
		t.checkUse()
	}
	errs := t.errs
	for _, file := range t.files {
		if err := file.Problems.Err(); err != nil {
			errs = append(errs, &FileError{file.name, ErrTable, err})
		}
	}
	return errors.Join(errs...)
}

// checkUse reports entries that nothing needed. It is asked only if the rest is
// right, for else something may be unused for another reason.
func (t *tables) checkUse() {
	if len(t.errs) > 0 || slices.ContainsFunc(t.files, func(f *table) bool { return len(f.Problems) > 0 }) {
		return
	}
	for _, s := range t.statuses {
		if !s.used {
			t.file(statusesTable).Report(s.node.Problem("no acceptor of a waiter of %s.%s has the status %d; remove it",
				s.service, s.operation, s.status))
		}
	}
	for _, p := range t.presence {
		if !p.used {
			t.file(presenceTable).Report(p.node.Problem("%s has no operation %s that reads; remove the row", p.service, p.operation))
		}
	}
	for _, e := range t.waiterEnds {
		if !e.used {
			t.file(waiterEndsTable).Report(e.node.Problem("%s has no waiter %s of AWS's; remove it", e.service, e.waiter))
		}
	}
	for at, row := range t.polledOn {
		if !row.used {
			t.file(polledOnTable).Report(row.node.Problem("%s has no waiter %s of AWS's with a status at %s; remove it", at.service, at.waiter, at.path))
		}
	}
	for _, key := range namesOf(t.named) {
		if !t.named[key].used {
			t.services.Report(t.named[key].node.Problem("the service %q has no waiter and no job; remove it", key))
			continue
		}
		for _, facts := range []map[string]*tableActions{t.named[key].actions, t.named[key].resources} {
			for _, operation := range namesOf(facts) {
				if a := facts[operation]; !a.used {
					t.services.Report(a.node.Problem("no waiter and no job of %s calls the operation %s", key, operation))
				}
			}
		}
	}
}

func (t *tables) file(name string) *table {
	return t.files[slices.IndexFunc(t.files, func(f *table) bool { return f.name == name })]
}

// object reads an object whose member names are data.
func (t *table) object(n *jsontree.Node, what string, read func(name string, n *jsontree.Node)) {
	if n.Kind != jsontree.Object {
		t.Report(n.Problem("expected %s, found %s", what, n.Describe()))
		return
	}
	for _, m := range n.Members {
		read(m.Name, m.Value)
	}
}

// word reads a string that is not empty.
func (t *table) word(to *string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		t.Text(to)(n)
		if n.Kind == jsontree.String && n.Text == "" {
			t.Report(n.Problem("expected a word, found an empty string"))
		}
	}
}

// words reads an array of strings.
func (t *table) words(to *[]string) func(*jsontree.Node) {
	return t.List(func(n *jsontree.Node) {
		var word string
		t.word(&word)(n)
		if slices.Contains(*to, word) {
			t.Report(n.Problem("%q stands twice in this list; keep one", word))
		}
		*to = append(*to, word)
	})
}

// source reads where a fact comes from, which stays in the table.
func (t *table) source() func(*jsontree.Node) { return t.word(new(string)) }

func (t *tables) readServices(file *table, root *jsontree.Node) {
	t.services = file
	previous := ""
	file.object(root, "services by their keys", func(key string, n *jsontree.Node) {
		file.inOrder(n, &previous, key)
		s := &tableService{node: n, actions: map[string]*tableActions{}, resources: map[string]*tableActions{}}
		file.Object(n, "a service", map[string]func(*jsontree.Node){
			"arnName": file.word(&s.names.ARNName), "errorPrefix": file.word(&s.names.ErrorPrefix),
			"iamPrefix": file.word(&s.names.IAMPrefix), "source": file.source(), "iamSource": file.source(),
			"iamActions": func(n *jsontree.Node) {
				file.object(n, "lists of IAM actions by operation", func(operation string, n *jsontree.Node) {
					a := &tableActions{node: n}
					file.actions(&a.actions)(n)
					s.actions[operation] = a
				})
			},
			"resourcesSource": file.source(),
			"resources": func(n *jsontree.Node) {
				file.object(n, "lists of ARNs by operation", func(operation string, n *jsontree.Node) {
					a := &tableActions{node: n}
					file.List(func(n *jsontree.Node) {
						var arn string
						file.Text(&arn)(n)
						if strings.ContainsAny(arn, ", ") {
							file.Report(n.Problem("expected one ARN, found %q", arn))
						}
						a.actions = append(a.actions, arn)
					})(n)
					s.resources[operation] = a
				})
			},
		}, "arnName", "errorPrefix", "iamPrefix", "source")
		if len(s.actions) > 0 && n.Get("iamSource") == nil {
			file.Report(n.Problem("iamActions need an iamSource beside them"))
		}
		if len(s.resources) > 0 && n.Get("resourcesSource") == nil {
			file.Report(n.Problem("resources need a resourcesSource beside them"))
		}
		t.named[key] = s
	})
}

// actions reads IAM actions.
func (t *table) actions(to *[]string) func(*jsontree.Node) {
	return t.List(func(n *jsontree.Node) {
		var action string
		t.action(&action)(n)
		*to = append(*to, action)
	})
}

// action reads an IAM action.
func (t *table) action(to *string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		t.Text(to)(n)
		if prefix, name, _ := strings.Cut(*to, ":"); n.Kind == jsontree.String && (prefix == "" || name == "") {
			t.Report(n.Problem("expected an IAM action such as s3:PutObject, found %q", *to))
		}
	}
}

// inOrder reports a name that is not after the one before it.
func (t *table) inOrder(n *jsontree.Node, previous *string, name string) {
	if name <= *previous {
		t.Report(n.Problem("the table is sorted, and %q comes before %q", name, *previous))
	}
	*previous = name
}

func (t *tables) readStatuses(file *table, root *jsontree.Node) {
	file.object(root, "operations by services", func(key string, n *jsontree.Node) {
		file.object(n, "statuses by operations", func(operation string, n *jsontree.Node) {
			if n.Get("source") == nil {
				file.Report(n.Problem("an operation needs the member \"source\""))
			}
			file.object(n, "names of errors by statuses", func(status string, n *jsontree.Node) {
				if status == "source" {
					file.source()(n)
					return
				}
				s := &tableStatus{node: n, service: key, operation: operation}
				var err error
				if s.status, err = strconv.Atoi(status); err != nil || s.status < 300 || s.status > 599 {
					file.Report(n.Problem("expected an HTTP status from 300 to 599, found %q", status))
				}
				file.word(&s.name)(n)
				t.statuses = append(t.statuses, s)
			})
		})
	})
}

func (t *tables) readLeftOut(file *table, root *jsontree.Node) {
	file.List(func(n *jsontree.Node) {
		var l leftOut
		file.Object(n, "what is left out", map[string]func(*jsontree.Node){
			"service": file.word(&l.service), "name": file.word(&l.name), "reason": file.source(),
		}, "service", "name", "reason")
		if slices.Contains(t.left, l) {
			file.Report(n.Problem("%s of %s stands twice; keep one", l.name, l.service))
		}
		t.left = append(t.left, l)
	})(root)
}

// leavesOut tells whether the catalogue leaves a waiter or a job out.
func (t *tables) leavesOut(key, name string) bool { return slices.Contains(t.left, leftOut{key, name}) }

// statusError is the name of the error of a status, or empty.
func (t *tables) statusError(key, operation string, status int) string {
	for _, s := range t.statuses {
		if s.service == key && s.operation == operation && s.status == status {
			s.used = true
			return s.name
		}
	}
	return ""
}

// statusErrors are the errors that an operation has for statuses, by status.
func (t *tables) statusErrors(key, operation string) []catalog.Error {
	var all []catalog.Error
	for _, s := range t.statuses {
		if s.service == key && s.operation == operation {
			all = append(all, catalog.Error{Code: s.name, Status: s.status})
		}
	}
	slices.SortFunc(all, func(a, b catalog.Error) int { return a.Status - b.Status })
	return all
}

// checkServices reports services that no model is of.
func (t *tables) checkServices(known map[string]bool) {
	for _, key := range namesOf(t.named) {
		if _, ok := known[key]; !ok {
			t.services.Report(t.named[key].node.Problem("no model is of the service %q", key).Suggest(key, namesOf(known)...))
		}
	}
}

// name sets the names that the tables give a service.
func (t *tables) name(s *catalog.Service) {
	if t.services == nil {
		return
	}
	named := t.named[s.Key]
	if named == nil {
		t.services.Report(diag.Problem{Message: fmt.Sprintf(
			"the service %q has waiters or jobs and stands not in the table; by the rule it would be {\"arnName\": %q, \"errorPrefix\": %q, \"iamPrefix\": %q}",
			s.Key, s.ARNName, s.ErrorPrefix, s.IAMPrefix)})
		return
	}
	named.used = true
	t.rename(s)
}

// rename gives a service the names of the table, if it has any.
func (t *tables) rename(s *catalog.Service) {
	if named := t.named[s.Key]; named != nil {
		s.ARNName, s.ErrorPrefix, s.IAMPrefix = named.names.ARNName, named.names.ErrorPrefix, named.names.IAMPrefix
	}
}

// actions are the IAM actions of an operation, if a table says them.
func (t *tables) actions(key, operation string) (actions []string, known bool) {
	named := t.named[key]
	if named == nil || named.actions[operation] == nil {
		return nil, false
	}
	named.actions[operation].used = true
	return named.actions[operation].actions, true
}

// resources are the ARNs that the actions of an operation are on.
func (t *tables) resources(key, operation string) []string {
	named := t.named[key]
	if named == nil || named.resources[operation] == nil {
		return nil
	}
	named.resources[operation].used = true
	return named.resources[operation].actions
}
