// Package catalogimport makes the data of package catalog from public models of
// AWS's services, in the form of botocore or of Smithy, and from tables that
// are kept by hand. Of the models it takes facts alone: operations that waiters
// and jobs call, the shapes that those reach, and no documentation.
//
// Where both forms describe a service, its operations and shapes are those of
// botocore, which has all services of one day, and a waiter is the Smithy
// model's, which says how long a delay may grow; how long botocore waits in
// total is kept.
package catalogimport

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Sources are what a catalogue is made from.
type Sources struct {
	// Botocore is botocore's folder data, nil for none.
	Botocore fs.FS
	// Smithy are models in the JSON AST.
	Smithy []File
	// Tables is the folder of the tables, whose form is in the README.md of
	// pollcore/catalog/sources; nil for none. Then there are no jobs, names of
	// services follow the rule of the SDKs, and an HTTP status means the errors
	// that the model gives it.
	Tables fs.FS
}

// File is a named text.
type File struct {
	Name string
	Text []byte
}

// Catalogue is what was imported.
type Catalogue struct {
	// Services have at least one waiter or job, and are sorted by key.
	Services []*catalog.Service
	// Endings is the table of that name as it is, which the package catalog reads itself; nil if there is none.
	Endings []byte
}

// Import makes a catalogue. All that is wrong is reported at once: the error
// joins a [FileError] for each file, of the kind [ErrModel] or [ErrTable].
func Import(sources Sources) (*Catalogue, error) {
	i := &importer{smithy: map[string]*model{}, tables: &tables{}}
	i.readSources(sources)
	c := &Catalogue{Endings: i.tables.endings}
	for _, key := range i.keys() {
		s, err := i.service(key)
		i.report(err)
		if s != nil {
			c.Services = append(c.Services, s)
		}
	}
	if len(i.errs) == 0 && len(c.Services) == 0 {
		i.report(&FileError{"models", ErrModel, errors.New("no service has a waiter or a job")})
	}
	i.report(i.tables.problems(len(i.errs) == 0))
	if err := errors.Join(i.errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// importer is the state of one import.
type importer struct {
	botocore *botocoreFolder   // nil if there is none
	smithy   map[string]*model // by key
	tables   *tables
	errs     []error
}

func (i *importer) report(err error) {
	if err != nil {
		i.errs = append(i.errs, err)
	}
}

func (i *importer) readSources(from Sources) {
	var err error
	if from.Botocore != nil {
		if i.botocore, err = openBotocore(from.Botocore); err != nil {
			i.report(err)
			i.botocore = nil
		}
	}
	models := from.Smithy
	if from.Tables != nil {
		i.tables = readTables(from.Tables)
		models = append(slices.Clone(models), i.tables.models...)
	}
	for _, file := range models {
		services, err := readSmithy(file)
		i.report(err)
		for _, m := range services {
			i.add(m)
		}
	}
}

// serviceKey is what a key may be: it is the name of a file too.
var serviceKey = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// add takes a service of a Smithy model. Of several versions the latest counts.
func (i *importer) add(m *model) {
	key := m.service.Key
	other := i.smithy[key]
	switch {
	case other == nil:
		i.smithy[key] = m
	case other.service.Name != m.service.Name:
		i.report(m.wrong(fmt.Errorf("the service %q would be called %s, as %q of %s is", m.service.Name, key, other.service.Name, other.origin)))
	case other.service.APIVersion < m.service.APIVersion:
		i.smithy[key] = m
	}
}

// keys are those of the services that may have a waiter or a job, sorted.
func (i *importer) keys() []string {
	keys := map[string]bool{}
	for key, m := range i.smithy {
		keys[key] = len(m.waiters) > 0
	}
	if i.botocore != nil {
		for key, version := range i.botocore.versions {
			keys[key] = keys[key] || i.botocore.has(key+"/"+version+"/"+waitersFile)
		}
	}
	for _, j := range i.tables.jobs {
		if _, known := keys[j.service]; known {
			keys[j.service] = true
		} else {
			j.report("service", "no model is of the service %q%s", j.service, nearest.DidYouMean(j.service, namesOf(keys)))
		}
	}
	i.tables.checkServices(keys)
	for key, wanted := range keys {
		if !wanted {
			delete(keys, key)
		}
	}
	return namesOf(keys)
}

// service imports one service; nil if it has no waiter and no job.
func (i *importer) service(key string) (*catalog.Service, error) {
	m := i.smithy[key]
	if i.botocore != nil && i.botocore.versions[key] != "" {
		var err error
		if m, err = i.botocore.model(key); err != nil {
			return nil, err
		}
	}
	if !serviceKey.MatchString(key) || key+".json" == catalog.IndexFile {
		return nil, m.wrong(fmt.Errorf("the service %q would be called %q, which must be letters, digits and hyphens, and not index", m.service.Name, key))
	}
	waiters, err := i.waiters(key, m)
	if err != nil {
		return nil, err
	}
	jobs := i.tables.jobsOf(key)
	if len(waiters) == 0 && len(jobs) == 0 {
		return nil, nil //nolint:nilnil // no service is not an error
	}
	b := newBuilder(m, i.tables)
	for _, name := range namesOf(waiters) {
		b.waiter(waiters[name])
	}
	for _, j := range jobs {
		b.job(j)
	}
	return b.finish()
}

// waiters returns the waiters of a service from both forms, by name.
func (i *importer) waiters(key string, m *model) (map[string]catalog.Definition, error) {
	found := map[string]catalog.Definition{}
	if i.botocore != nil && i.botocore.versions[key] != "" {
		var broken error // an operation whose errors are asked for
		definitions, err := i.botocore.waiters(key, i.errorsForStatus(m, &broken))
		if broken != nil {
			err = broken
		}
		if err != nil {
			return nil, err
		}
		for _, d := range definitions {
			found[strings.ToLower(d.Waiter.Name)] = d
		}
	}
	if smithy := i.smithy[key]; smithy != nil {
		for _, d := range smithy.waiters {
			name := strings.ToLower(d.Waiter.Name)
			d.TotalWait = found[name].TotalWait
			found[name] = d
		}
	}
	byName := map[string]catalog.Definition{}
	for _, d := range found {
		if !i.tables.leavesOut(key, d.Waiter.Name) {
			byName[d.Waiter.Name] = d
		}
	}
	return byName, nil
}

// errorsForStatus names the errors of a status: those of the table, else those
// that the operation's model declares with it. An operation that cannot be read
// is an error of the model.
func (i *importer) errorsForStatus(m *model, broken *error) func(operation string, status int) []string {
	return func(operation string, status int) []string {
		if name := i.tables.statusError(m.service.Key, operation, status); name != "" {
			return []string{name}
		}
		o, err := m.declares(operation)
		if err != nil {
			*broken = err
			return nil
		}
		var names []string
		for _, e := range o.Errors {
			if e.Status == status {
				// SDKs give an error its code, where that differs from the shape.
				names = append(names, firstOf(e.Code, e.Shape))
			}
		}
		slices.Sort(names)
		return names
	}
}

// builder puts a service together.
type builder struct {
	service *catalog.Service
	tables  *tables
	closure closure
	rest    bool // it has HTTP bindings of its own
	errs    []error
}

func newBuilder(m *model, t *tables) *builder {
	m.setDerivedNames()
	s := m.service
	t.name(&s)
	s.Operations, s.Shapes = map[string]*catalog.Operation{}, map[string]*catalog.Shape{}
	s.Waiters, s.Jobs = map[string]*catalog.WaiterData{}, map[string]*catalog.Job{}
	speaks := func(protocols ...catalog.Protocol) bool {
		return slices.ContainsFunc(s.Protocols, func(p catalog.Protocol) bool { return slices.Contains(protocols, p) })
	}
	return &builder{
		service: &s, tables: t, rest: speaks(catalog.RESTJSON, catalog.RESTXML),
		closure: closure{model: m, shapes: s.Shapes},
	}
}

// operation adds an operation with all that it reaches; nil if that fails,
// which is reported.
func (b *builder) operation(name string) *catalog.Operation {
	if o := b.service.Operations[name]; o != nil {
		return o
	}
	o, err := b.closure.add(name)
	if err != nil {
		b.errs = append(b.errs, err)
		return nil
	}
	if !b.rest {
		o.Method, o.Path = "", ""
	}
	var known bool
	if o.Actions, known = b.tables.actions(b.service.Key, name); !known {
		o.Actions = []string{b.service.IAMPrefix + ":" + name}
	}
	o.Resources = b.tables.resources(b.service.Key, name)
	o.Errors = append(o.Errors, b.tables.statusErrors(b.service.Key, name)...)
	b.service.Operations[name] = o
	if o.Discovered && slices.Contains(b.closure.model.operations, catalog.EndpointOperation) {
		b.operation(catalog.EndpointOperation)
	}
	return o
}

// waiter adds a waiter of AWS's.
func (b *builder) waiter(d catalog.Definition) {
	if b.operation(d.Operation) == nil {
		return
	}
	w := *d.Waiter
	w.Documentation = ""
	b.service.Waiters[w.Name] = &catalog.WaiterData{
		Operation: d.Operation, TotalWait: int(d.TotalWait / time.Second), Waiter: jsontree.Compact(w),
	}
}

func (b *builder) finish() (*catalog.Service, error) {
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	b.service.Throttled = b.closure.model.throttled()
	if err := b.closure.model.setEndpoints(b.service); err != nil {
		return nil, err
	}
	if err := b.service.Link(); err != nil {
		return nil, &FileError{b.closure.model.origin, ErrModel, fmt.Errorf("the importer made a service that is not whole: %w", err)}
	}
	b.addPresenceRows()
	b.spreadPresence()
	b.addWaiterEnds()
	b.checkPolledOn()
	return b.service, errors.Join(b.errs...)
}

// setEndpoints sets the service's endpoint, which is that of the operations with
// the prefix of the metadata, or without any such of the first; and on each
// other operation its own.
func (m *model) setEndpoints(s *catalog.Service) error {
	if m.endpoint == nil {
		return nil
	}
	of := map[string]catalog.Endpoint{} // by operation
	main := ""
	for _, name := range namesOf(s.Operations) {
		e, err := m.endpoint(name)
		if err != nil {
			return err
		}
		of[name] = e
		if main == "" || e.Prefix == s.Endpoint.Prefix && of[main].Prefix != e.Prefix {
			main = name
		}
	}
	for name, e := range of {
		if !reflect.DeepEqual(e, of[main]) {
			s.Operations[name].Endpoint = &e
		}
	}
	s.Endpoint = of[main]
	return nil
}
