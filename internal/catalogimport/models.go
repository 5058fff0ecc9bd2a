package catalogimport

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Models are all operations of all services, without waiters and jobs: the data
// of package models.
type Models struct {
	// Services are sorted by key.
	Services []*catalog.Service
}

// ImportModels converts botocore's folder data whole, and names the services as the tables do. Shapes keep their bounds, and
// those of tokens and of the names of new jobs their patterns. Errors are those of [Import].
func ImportModels(botocore, named fs.FS) (*Models, error) {
	folder, err := openBotocore(botocore)
	if err != nil {
		return nil, err
	}
	t := readTables(named)
	errs := []error{t.problems(false)}
	out := &Models{}
	arnNames := map[string]*catalog.Service{}
	for _, key := range namesOf(folder.versions) {
		s, err := modelService(folder, t, key)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		// botocore has Pinpoint SMS Voice twice, under two keys.
		if other := arnNames[s.ARNName]; other != nil && other.Name != s.Name {
			errs = append(errs, &FileError{key, ErrModel, fmt.Errorf(
				"the name %q in ARNs of Step Functions is that of %s, too: name one of them in %s", s.ARNName, other.Key, servicesTable)})
		}
		arnNames[s.ARNName] = s
		out.Services = append(out.Services, s)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// modelService converts a service with all its operations.
func modelService(folder *botocoreFolder, t *tables, key string) (*catalog.Service, error) {
	m, err := folder.model(key)
	if err != nil {
		return nil, err
	}
	if !serviceKey.MatchString(key) || key+".json" == catalog.IndexFile {
		return nil, m.wrong(fmt.Errorf("the service is called %q, which must be letters, digits and hyphens, and not index", key))
	}
	m.setDerivedNames()
	s := m.service
	t.rename(&s)
	s.Operations, s.Shapes = map[string]*catalog.Operation{}, map[string]*catalog.Shape{}
	patterned, err := madeUp(m)
	if err != nil {
		return nil, err
	}
	c := closure{model: m, limits: true, patterned: patterned, shapes: s.Shapes}
	rest := slices.ContainsFunc(s.Protocols, func(p catalog.Protocol) bool { return p == catalog.RESTJSON || p == catalog.RESTXML })
	for _, name := range m.operations {
		o, err := c.add(name)
		if err != nil {
			return nil, err
		}
		if !rest {
			o.Method, o.Path = "", ""
		}
		s.Operations[name] = o
	}
	s.Throttled = m.throttled()
	if err := m.setEndpoints(&s); err != nil {
		return nil, err
	}
	if err := s.Link(); err != nil {
		return nil, m.wrong(err)
	}
	return &s, nil
}

// How members of inputs are called: a token that makes a call idempotent, a token for the next page, and the name of a new job.
var (
	tokenName   = regexp.MustCompile(`(?i)(token|requestid|callerreference)$|idempoten`)
	pageName    = regexp.MustCompile(`(?i)next|page|pagina|continuation`)
	newName     = regexp.MustCompile(`(?i)(name|id)$`)
	beginsByOwn = regexp.MustCompile(`^(Start|Create|Run|Submit)`)
)

// madeUp finds the shapes of tokens and of the names of new jobs. The caller makes those texts up, so it must know which ones the
// service takes.
func madeUp(m *model) (map[string]bool, error) {
	shapes := map[string]bool{}
	for _, name := range m.operations {
		o, err := m.declares(name)
		if err != nil {
			return nil, err
		}
		if o.InputShape == "" {
			continue
		}
		input, err := m.shape(o.InputShape)
		if err != nil {
			return nil, m.wrong(fmt.Errorf("operation %s: %w", name, err))
		}
		for i := range input.shape.Members {
			member := &input.shape.Members[i]
			token := member.Token || tokenName.MatchString(member.Name) && !pageName.MatchString(member.Name)
			if token || beginsByOwn.MatchString(name) && newName.MatchString(member.Name) {
				shapes[member.Target] = true
			}
		}
	}
	return shapes, nil
}

// Files returns the texts of the data by name: an index and one for each
// service, in the form of [Catalogue.Files].
func (m *Models) Files() map[string][]byte { return catalogueFiles(m.Services) }

// Compare is [Catalogue.Compare].
func (m *Models) Compare(folder string) ([]Difference, error) {
	return content(m.Files()).compare(folder)
}

// Write is [Catalogue.Write].
func (m *Models) Write(folder string) ([]Difference, error) {
	return content(m.Files()).write(folder)
}
