package kit

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Settings are those of the config files for what a command reads. They serve one goroutine.
type Settings struct {
	finder *settings.Finder
	known  map[string]*settings.Settings
	values map[string]map[string]string
	errs   []error // of the config files
}

// Vocabulary is what a config file may name.
func Vocabulary() settings.Vocabulary {
	return settings.Vocabulary{
		Rules: RuleNames(), Fixed: FixedRules(), Meanings: lint.SaidMeanings(),
		CheckRegion: func(region string) error { _, err := asl.TransitionPrice(region); return err },
	}
}

// NewSettings reads each config file once.
func NewSettings() *Settings {
	finder := settings.NewFinder(settings.Disk{}, Vocabulary())
	finder.NameOf = func(file string) string { return filepath.FromSlash(RelativeName(".", file)) }
	return &Settings{finder: finder, known: map[string]*settings.Settings{}, values: map[string]map[string]string{}}
}

// Of returns the settings of a file. Those of the standard input and of an ARN are the working
// folder's. What is wrong with a config file is in Err.
func (s *Settings) Of(file string) *settings.Settings {
	if file == source.Stdin || source.IsARN(file) {
		file = source.Stdin
	}
	if known := s.known[file]; known != nil {
		return known
	}
	path, err := filepath.Abs(filepath.FromSlash(file))
	found := &settings.Settings{}
	if err == nil {
		var of *settings.Settings
		if of, err = s.finder.Of(path); err == nil {
			found = of
		}
	}
	s.note(err)
	s.known[file] = found
	return found
}

// Err is what is wrong with the config files that were asked for: wrong usage.
func (s *Settings) Err() error {
	if len(s.errs) == 0 {
		return nil
	}
	return Usage("%w", errors.Join(s.errs...))
}

// AddTo lets the settings count for files that are read: values of placeholders, and the paths
// that walks pass over.
func (s *Settings) AddTo(o source.Options) source.Options {
	o.ValuesOf = func(file string) map[string]string {
		if s.values[file] == nil {
			s.values[file] = settings.Values(s.Of(file).Substitutions)
		}
		return s.values[file]
	}
	o.PassOver = func(name string, folder bool) bool {
		path, err := filepath.Abs(filepath.FromSlash(name))
		if err != nil {
			return false
		}
		find := s.finder.Of
		if folder {
			find = s.finder.OfFolder
		}
		of, err := find(path)
		s.note(err)
		return filepath.Base(path) == settings.Name || err == nil && of.Ignored.Value != ""
	}
	return o
}

// Said is what statuses mean in a file: by --status, else by the settings. A status of --status
// is that of all Tasks, if it names none.
func (s *Settings) Said(file string, flags map[string]lint.Meaning) map[string]lint.Meaning {
	said := map[string]lint.Meaning{}
	for status, setting := range s.Of(file).Statuses {
		_, word, ofTask := strings.Cut(status, ":")
		if _, given := flags[word]; !ofTask || !given {
			said[status] = lint.Meaning(setting.Value)
		}
	}
	maps.Copy(said, flags)
	return said
}

// SaidOf is Said of a file, for a command that reads one alone.
func SaidOf(file string, flags map[string]lint.Meaning) (map[string]lint.Meaning, error) {
	s := NewSettings()
	said := s.Said(file, flags)
	return said, s.Err()
}

// RegionOf is the region of prices that the settings of a file give; empty if they give none.
func RegionOf(file string) (string, error) {
	s := NewSettings()
	region := s.Of(file).Region.Value
	return region, s.Err()
}

// Load reads definitions with the settings of their files. What could be read is returned
// beside an error.
func (s *Settings) Load(ctx context.Context, names []string, o source.Options) ([]*source.Definition, error) {
	all, err := source.Load(ctx, names, s.AddTo(o))
	for _, d := range all {
		s.Of(d.File)
	}
	if wrong := s.Err(); wrong != nil {
		return nil, wrong
	}
	return all, err
}

// LoadOne reads a definition with the settings of its file.
func (s *Settings) LoadOne(ctx context.Context, name string, o source.Options) (*source.Definition, error) {
	d, err := source.LoadOne(ctx, name, s.AddTo(o))
	if err == nil {
		s.Of(d.File)
	}
	if wrong := s.Err(); wrong != nil {
		return nil, wrong
	}
	return d, err
}

// note keeps an error, once.
func (s *Settings) note(err error) {
	if err != nil && !slices.ContainsFunc(s.errs, func(known error) bool { return known.Error() == err.Error() }) {
		s.errs = append(s.errs, err)
	}
}
