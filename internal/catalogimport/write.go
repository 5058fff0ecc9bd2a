package catalogimport

import (
	"bytes"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Files returns the files of the catalogue by name: an index and one for each
// service. What belongs together stands on one line and lines are sorted, so a
// difference between two catalogues is readable. In a folder, the files of services are
// packed with gzip: see [Catalogue.Write].
func (c *Catalogue) Files() map[string][]byte {
	files := catalogueFiles(c.Services)
	if c.Endings != nil {
		files[endingsTable] = c.Endings
	}
	return files
}

func catalogueFiles(services []*catalog.Service) map[string][]byte {
	files := map[string][]byte{}
	var index lines
	index.open("[")
	for _, s := range services {
		files[s.Key+".json"] = serviceText(s)
		index.listing(s.Listing())
	}
	index.close("]")
	files[catalog.IndexFile] = index.text()
	return files
}

// lines writes a JSON value with a line for each part.
type lines struct {
	b     bytes.Buffer
	depth int
	begun bool // a part of the innermost value is written
}

func (l *lines) newline() {
	if l.b.Len() > 0 {
		l.b.WriteByte('\n')
	}
	for range l.depth {
		l.b.WriteByte(' ')
	}
}

// part begins a part of the innermost value, with its name if that is an
// object.
func (l *lines) part(name string) {
	if l.begun {
		l.b.WriteByte(',')
	}
	l.begun = true
	l.newline()
	if name != "" {
		l.b.Write(jsontree.Quote(name))
		l.b.WriteString(": ")
	}
}

func (l *lines) open(bracket string) {
	l.b.WriteString(bracket)
	l.depth++
	l.begun = false
}

func (l *lines) close(bracket string) {
	l.depth--
	if l.begun {
		l.newline()
	}
	l.b.WriteString(bracket)
	l.begun = true
}

func (l *lines) value(name string, value any) {
	l.part(name)
	l.b.Write(jsontree.Compact(value))
}

func (l *lines) text() []byte { return append(l.b.Bytes(), '\n') }

// object writes an object with a line for each member, in order of their names.
func object[V any](l *lines, name string, members map[string]V) {
	if len(members) == 0 {
		return
	}
	l.part(name)
	l.open("{")
	for _, name := range namesOf(members) {
		l.value(name, members[name])
	}
	l.close("}")
}

func (l *lines) listing(of catalog.Listing) {
	l.part("")
	l.open("{")
	for _, m := range []struct{ name, value string }{
		{"name", of.Name}, {"key", of.Key}, {"arnName", of.ARNName}, {"errorPrefix", of.ErrorPrefix}, {"iamPrefix", of.IAMPrefix},
	} {
		l.value(m.name, m.value)
	}
	l.part("entries")
	l.open("[")
	for _, e := range of.Entries {
		l.value("", e)
	}
	l.close("]")
	l.close("}")
}

func serviceText(s *catalog.Service) []byte {
	var l lines
	l.open("{")
	for _, m := range []struct{ name, value string }{
		{"name", s.Name},
		{"key", s.Key},
		{"arnName", s.ARNName},
		{"errorPrefix", s.ErrorPrefix},
		{"iamPrefix", s.IAMPrefix},
		{"apiVersion", s.APIVersion},
	} {
		l.value(m.name, m.value)
	}
	l.value("protocols", s.Protocols)
	if s.JSONVersion != "" {
		l.value("jsonVersion", s.JSONVersion)
	}
	if s.TargetPrefix != "" {
		l.value("targetPrefix", s.TargetPrefix)
	}
	if s.QueryCompatible {
		l.value("queryCompatible", true)
	}
	if s.Namespace != "" {
		l.value("namespace", s.Namespace)
	}
	l.value("endpoint", s.Endpoint)
	if s.Throttled != nil {
		l.value("throttled", s.Throttled)
	}
	object(&l, "operations", s.Operations)
	object(&l, "shapes", s.Shapes)
	object(&l, "waiters", s.Waiters)
	object(&l, "jobs", s.Jobs)
	l.close("}")
	return l.text()
}
