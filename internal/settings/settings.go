// Package settings reads .jobpoller.yaml: what a team says of rules, placeholders,
// statuses and paths, for the files in a folder and below it.
//
//	found := settings.NewFinder(settings.Disk{}, vocabulary)
//	s, err := found.Of("/repo/machines/export.asl.json")
//	s.Rules["poll-needless"] // off, and where the file says so
package settings

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Name is that of a config file.
const Name = ".jobpoller.yaml"

// Off is the level of a rule that is not checked.
const Off = "off"

// Vocabulary is what a config file may name.
type Vocabulary struct {
	// Rules are those that a file may turn off or rate, and Fixed the others, each with the
	// reason why not.
	Rules []string
	Fixed map[string]string
	// Meanings are what a status may mean.
	Meanings []string
	// CheckRegion says what is wrong with a region.
	CheckRegion func(region string) error
}

// levels are what a rule may be.
var levels = map[string]diag.Severity{"error": diag.Error, "danger": diag.Danger, "warning": diag.Warning, "note": diag.Note}

// levelNames are the levels with Off, the worst first.
func levelNames() []string {
	names := make([]string, len(levels), len(levels)+1)
	for name, severity := range levels {
		names[severity] = name
	}
	return append(names, Off)
}

// Place is where a setting stands.
type Place struct {
	File         string `json:"file"`
	Line, Column int
	// Files are the patterns of the override that has it; nil for all files.
	Files []string
}

// Setting is a value, and where it stands.
type Setting struct {
	Place

	Value string
}

// block is what a config file says of all files, or of some.
type block struct {
	rules, substitutions, statuses map[string]Setting
	region                         Setting
}

// override is a block for some files.
type override struct {
	block

	files []glob
}

// Config is a config file.
type Config struct {
	file      string // as messages name it
	base      block
	overrides []override
	ignore    []ignored
}

// ignored are paths that a walk of a folder passes over.
type ignored struct {
	glob

	at Place
}

// Settings are those that count for a file.
type Settings struct {
	// Config is the config file; empty if there is none.
	Config string
	// Rules have a level or Off, by the name of the rule.
	Rules map[string]Setting
	// Substitutions are values of placeholders, and Statuses what statuses mean: by the
	// status, or by the Task and the status, "Look:done".
	Substitutions, Statuses map[string]Setting
	// Region is that of prices; its Value is empty if nothing says it.
	Region Setting
	// Ignored is the pattern for which walks of a folder pass over the file; its Value is
	// empty if none matches.
	Ignored Setting
}

// of are the settings of a file, by its path from the folder of the config.
func (c *Config) of(path string, folder bool) *Settings {
	s := &Settings{
		Config: c.file, Region: c.base.region,
		Rules: maps.Clone(c.base.rules), Substitutions: maps.Clone(c.base.substitutions), Statuses: maps.Clone(c.base.statuses),
	}
	for _, o := range c.overrides {
		if !slices.ContainsFunc(o.files, func(g glob) bool { return g.matches(path, folder) }) {
			continue
		}
		maps.Copy(s.Rules, o.rules)
		maps.Copy(s.Substitutions, o.substitutions)
		maps.Copy(s.Statuses, o.statuses)
		if o.region.Value != "" {
			s.Region = o.region
		}
	}
	for _, i := range c.ignore {
		if i.matches(path, folder) {
			s.Ignored = Setting{i.at, i.text}
			break
		}
	}
	return s
}

// Off are the rules that are not checked, in their order.
func (s *Settings) Off() []string {
	var off []string
	for _, name := range slices.Sorted(maps.Keys(s.Rules)) {
		if s.Rules[name].Value == Off {
			off = append(off, name)
		}
	}
	return off
}

// Severity is what the findings of a rule have, if the settings say it.
func (s *Settings) Severity(rule string) (diag.Severity, bool) {
	severity, rated := levels[s.Rules[rule].Value]
	return severity, rated
}

// Values are the texts of settings by their names.
func Values(all map[string]Setting) map[string]string {
	texts := make(map[string]string, len(all))
	for name, setting := range all {
		texts[name] = setting.Value
	}
	return texts
}
