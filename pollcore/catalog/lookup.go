package catalog

import (
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore"
)

// embedded is the data that the importer writes: a file for each service, and
// an index.
//
//go:embed data
var embedded embed.FS

// The names of the files of a catalogue. Those of services are <key>.json.gz, packed with
// gzip, or <key>.json.
const (
	IndexFile    = "index.json"
	PackedSuffix = ".gz"
)

// Catalog finds waiters and jobs. A service's file is read when something of
// it is asked for first, so a program that uses one waiter reads no others. It
// is safe for concurrent use.
type Catalog struct {
	files fs.FS
	index func() ([]Listing, error)
	names func() (map[string]int, error) // the places in the index of plain names

	mu       sync.Mutex
	services map[string]*loading // by key
}

// loading is a service's file that is read once.
type loading struct {
	once    sync.Once
	service *Service
	err     error
}

// aws is the one catalogue of AWS, so that a service's file is read once.
var aws = sync.OnceValue(func() *Catalog {
	data, err := fs.Sub(embedded, "data")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return Open(data)
})

// AWS returns the catalogue of AWS's waiters and of the jobs that have none. It
// is the same one at each call.
func AWS() *Catalog { return aws() }

// Open returns the catalogue in a folder that the importer wrote. Nothing is
// read yet.
func Open(files fs.FS) *Catalog {
	c := &Catalog{files: files, services: map[string]*loading{}}
	c.index, c.names = sync.OnceValues(c.readIndex), sync.OnceValues(c.readNames)
	return c
}

// Listing is what the index says of a service.
type Listing struct {
	Name        string `json:"name"` // the sdkId
	Key         string `json:"key"`  // as the AWS CLI calls it
	ARNName     string `json:"arnName"`
	ErrorPrefix string `json:"errorPrefix"`
	IAMPrefix   string `json:"iamPrefix"`
	// Entries are the service's waiters and then its jobs, each sorted by name.
	Entries []Listed `json:"entries"`
}

// Listed is what the index says of a waiter or a job.
type Listed struct {
	// Name is the waiter's, or of a job the operation that starts it.
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Waiter is the name of the waiter that a job yields; a waiter's own.
	Waiter string `json:"waiter"`
	// Operation is polled.
	Operation string `json:"operation"`
}

// Kind tells AWS's waiters from jobs.
type Kind string

// The kinds of entries.
const (
	AWSWaiter Kind = "waiter" // published by AWS
	AWSJob    Kind = "job"    // from the catalogue's own table
	// Derived follows from the service's model alone, and nobody has reviewed it: see package derived. The catalogue
	// itself has none.
	Derived Kind = "derived"
)

// Entry is a waiter or a job, and the operation that it polls.
type Entry struct {
	// Name is the waiter's, or of a job the operation that starts it.
	Name    string
	Kind    Kind
	Service *Service
	// Operation is polled.
	Operation *Operation
	// Waiter spells members as the service's model does.
	Waiter *pollcore.Waiter
	// TotalWait is how long botocore polls at most; 0 if that is not known.
	TotalWait time.Duration
	// Ends are the statuses for which Waiter has acceptors that AWS's own waiter lacks;
	// they are its last. See [Entry.Published].
	Ends []WaiterEnd
	// Job is nil for a waiter of AWS's.
	Job *Job
}

// ErrNotFound means that the catalogue has no such service, waiter or job.
var ErrNotFound = errors.New("not in the catalogue")

// NotFoundError is the ErrNotFound of a name.
type NotFoundError struct {
	Service    string // the key of the service that has no such name; empty if the catalogue has none
	What       string // such as "service", or "waiter or job"
	Name       string
	Suggestion string // the nearest name, or empty
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s has no %s %q%s", cmp.Or(e.Service, "the catalogue"), e.What, e.Name, nearest.Question(e.Suggestion))
}

// Unwrap returns ErrNotFound.
func (*NotFoundError) Unwrap() error { return ErrNotFound }

// List returns all services with the names of their waiters and jobs, sorted
// by key.
func (c *Catalog) List() ([]Listing, error) {
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	list := slices.Clone(index)
	for i := range list {
		list[i].Entries = slices.Clone(list[i].Entries)
	}
	return list, nil
}

// Search is Search in all services.
func (c *Catalog) Search(word string) ([]Listing, error) {
	all, err := c.List()
	if err != nil {
		return nil, err
	}
	return Search(all, word), nil
}

// Search returns the services that have the word in a name of theirs, with all
// entries, and of others the entries that have it, in the same order. Case does
// not matter; the empty word is in every name.
func Search(all []Listing, word string) []Listing {
	word = plain(word)
	var found []Listing
	for _, s := range all {
		if !inOne(s.names(), word) {
			s.Entries = slices.DeleteFunc(s.Entries, func(e Listed) bool {
				return !inOne([]string{e.Name, e.Waiter, e.Operation}, word)
			})
			if len(s.Entries) == 0 {
				continue
			}
		}
		found = append(found, s)
	}
	return found
}

// inOne tells whether one of the names has the plain word in it.
func inOne(names []string, word string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(plain(name), word) })
}

// names are what a service is called in one place or another.
func (l *Listing) names() []string { return []string{l.Key, l.Name, l.ARNName, l.IAMPrefix} }

// plain is a name without what people write differently: case, spaces, hyphens
// and dots.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_.", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// Find returns what the index says of a service. The name may be any that it
// has: the AWS CLI's, the SDK's, the one of integrations or the prefix of its
// IAM actions; case, spaces and hyphens do not matter. A name of several
// services means the one that it fits first in that order. Its error is a
// *NotFoundError.
func (c *Catalog) Find(service string) (*Listing, error) {
	listing, err := c.find(service)
	if err != nil {
		return nil, err
	}
	found := *listing
	found.Entries = slices.Clone(found.Entries)
	return &found, nil
}

// Service returns all of a service, by a name as in Find.
func (c *Catalog) Service(name string) (*Service, error) {
	listing, err := c.find(name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	l := c.services[listing.Key]
	if l == nil {
		l = &loading{}
		c.services[listing.Key] = l
	}
	c.mu.Unlock()
	l.once.Do(func() {
		l.service, l.err = c.readService(listing.Key)
	})
	return l.service, l.err
}

// Operation returns an operation of a service, which may have any name that Find takes.
// Its error is a *NotFoundError.
func (c *Catalog) Operation(service, name string) (*Operation, error) {
	s, err := c.Service(service)
	if err != nil {
		return nil, err
	}
	if o := s.Operations[name]; o != nil {
		return o, nil
	}
	names := slices.Sorted(maps.Keys(s.Operations))
	return nil, &NotFoundError{Service: s.Key, What: "operation", Name: name, Suggestion: nearest.Word(name, names)}
}

// Lookup returns a waiter or a job of a service. The service may have any name
// that Find takes. The name is that of a waiter ("ExportCompleted"), of the
// operation that starts a job ("ExportTableToPointInTime") or of the waiter
// that the job yields; case and hyphens do not matter ("export-completed"). Its
// error is a *NotFoundError.
func (c *Catalog) Lookup(service, name string) (*Entry, error) {
	listing, err := c.Find(service)
	if err != nil {
		return nil, err
	}
	wanted := plain(name)
	var names []string
	for _, e := range listing.Entries {
		if plain(e.Name) == wanted || plain(e.Waiter) == wanted {
			s, err := c.Service(listing.Key)
			if err != nil {
				return nil, err
			}
			return s.entry(e)
		}
		names = append(names, e.Name)
		if e.Waiter != e.Name {
			names = append(names, e.Waiter)
		}
	}
	return nil, &NotFoundError{Service: listing.Key, What: "waiter or job", Name: name, Suggestion: nearest.Word(name, names)}
}

// find is Find, without a copy.
func (c *Catalog) find(service string) (*Listing, error) {
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	places, err := c.names()
	if err != nil {
		return nil, err
	}
	if i, ok := places[plain(service)]; ok {
		return &index[i], nil
	}
	var names []string
	for _, s := range index {
		names = append(names, s.Key)
	}
	return nil, &NotFoundError{What: "service", Name: service, Suggestion: nearest.Word(service, names)}
}

func (c *Catalog) readIndex() ([]Listing, error) {
	var index []Listing
	if err := c.read(IndexFile, &index); err != nil {
		return nil, err
	}
	return index, nil
}

// readNames finds what plain names mean: of several services the one that comes first in the
// order of Find.
func (c *Catalog) readNames() (map[string]int, error) {
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	places := map[string]int{}
	for nth := range (&Listing{}).names() {
		for i := range index {
			name := plain(index[i].names()[nth])
			if _, taken := places[name]; !taken {
				places[name] = i
			}
		}
	}
	return places, nil
}

func (c *Catalog) readService(key string) (*Service, error) {
	s, name := &Service{}, path.Base(key)+".json"
	if err := c.read(name, s); err != nil {
		return nil, err
	}
	if s.Key != key {
		return nil, fmt.Errorf("catalogue: %s: it is of the service %q; expected %q", name, s.Key, key)
	}
	if err := s.Link(); err != nil {
		return nil, fmt.Errorf("catalogue: %s: %w", name, err)
	}
	return s, nil
}

func (c *Catalog) read(name string, into any) error {
	text, err := c.text(name)
	if err != nil {
		return fmt.Errorf("catalogue: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("catalogue: %s: %w", name, err)
	}
	return nil
}

// text reads a file, which is packed unless somebody unpacked it.
func (c *Catalog) text(name string) ([]byte, error) {
	file, err := c.files.Open(name + PackedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ReadFile(c.files, name)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // what was only read is not lost
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name+PackedSuffix, err)
	}
	return io.ReadAll(unpacked)
}

// entry reads one waiter or job.
func (s *Service) entry(l Listed) (*Entry, error) {
	e := &Entry{Name: l.Name, Kind: l.Kind, Service: s, Operation: s.Operations[l.Operation]}
	var err error
	if data := s.Waiters[l.Name]; l.Kind == AWSWaiter && data != nil {
		e.TotalWait = time.Duration(data.TotalWait) * time.Second
		e.Waiter, err = pollcore.ParseWaiter(l.Name, data.Waiter)
		if err == nil {
			e.addEnds(data.Ends)
		}
	} else if e.Job = s.Jobs[l.Name]; e.Job != nil {
		e.Waiter, err = e.Job.NewWaiter()
	} else {
		err = errors.New("the file of the service does not have it")
	}
	if err == nil && e.Operation == nil {
		err = fmt.Errorf("the file of the service does not have the operation %q", l.Operation)
	}
	if err != nil {
		return nil, fmt.Errorf("catalogue: %s %s: %w", s.Key, l.Name, err)
	}
	return e, nil
}

// Listing is what the index says of the service.
func (s *Service) Listing() Listing {
	l := Listing{Name: s.Name, Key: s.Key, ARNName: s.ARNName, ErrorPrefix: s.ErrorPrefix, IAMPrefix: s.IAMPrefix}
	for _, name := range slices.Sorted(maps.Keys(s.Waiters)) {
		l.Entries = append(l.Entries, Listed{Name: name, Kind: AWSWaiter, Waiter: name, Operation: s.Waiters[name].Operation})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Jobs)) {
		l.Entries = append(l.Entries, Listed{Name: name, Kind: AWSJob, Waiter: s.Jobs[name].Waiter, Operation: s.Jobs[name].Describe})
	}
	return l
}

// Lookup finds a waiter or a job of AWS's: see [Catalog.Lookup].
func Lookup(service, name string) (*Entry, error) { return aws().Lookup(service, name) }
