package lint

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// shownSettings are those of a file. Their JSON members are a contract: see
// docs/reference/json.md.
type shownSettings struct {
	File     string         `json:"file"`
	Config   string         `json:"config,omitempty"`
	Ignored  bool           `json:"ignored"`
	Settings []shownSetting `json:"settings"`
}

// shownSetting is a setting, and where it stands: in a file, or in a flag.
type shownSetting struct {
	Key    string   `json:"key"`
	Name   string   `json:"name,omitempty"`
	Value  string   `json:"value"`
	File   string   `json:"file,omitempty"`
	Line   int      `json:"line,omitempty"`
	Column int      `json:"column,omitempty"`
	Files  []string `json:"files,omitempty"` // patterns of an override
	Flag   string   `json:"flag,omitempty"`
}

// printSettings prints the settings that count for files, and where each stands.
func printSettings(c *cobra.Command, names []string, o *options) error {
	values, err := kit.Substitutions(o.substitutes).Values()
	if err != nil {
		return err
	}
	all := make([]shownSettings, len(names))
	for i, name := range names {
		file, err := fileOf(name)
		if err != nil {
			return kit.Usage("%w", err)
		}
		all[i] = o.show(file, values)
	}
	if err := o.settings.Err(); err != nil {
		return err
	}
	if o.output == "json" {
		return kit.WriteJSON(c.OutOrStdout(), all)
	}
	for i, one := range all {
		if i > 0 {
			terminal.Fprintf(c.OutOrStdout(), "\n")
		}
		terminal.Fprintf(c.OutOrStdout(), "%s", terminal.Lines(one.text()))
	}
	return nil
}

// fileOf is the file that a name of a definition is of.
func fileOf(name string) (string, error) {
	if name == source.Stdin || source.IsARN(name) {
		return name, nil
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return name, terminal.Errorf("--show-config: %s is a folder: name a file in it, as patterns of the config file choose files", name)
	}
	if file, _, ofFile := strings.Cut(name, "#"); err != nil && ofFile {
		_, err = os.Stat(file)
		return file, err
	}
	return name, err
}

// show finds the settings of a file. The flags win.
func (o *options) show(file string, values map[string]string) shownSettings {
	of := o.settings.Of(file)
	out := shownSettings{File: file, Config: of.Config, Ignored: of.Ignored.Value != "", Settings: []shownSetting{}}
	add := func(key, name string, s settings.Setting) {
		out.Settings = append(out.Settings, shownSetting{key, name, s.Value, s.File, s.Line, s.Column, s.Files, ""})
	}
	flag := func(key, name, value, flag string) {
		out.Settings = append(out.Settings, shownSetting{Key: key, Name: name, Value: value, Flag: flag})
	}
	j := o.judgeOf(file)
	rules := slices.Sorted(maps.Keys(of.Rules))
	for _, rule := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(rules, o.off)))) {
		s, set := of.Rules[rule]
		switch {
		case slices.Contains(o.off, rule):
			flag("rules", rule, settings.Off, "--off")
		case set && s.Value == settings.Off && j.checks(rule):
			flag("rules", rule, "checked", "--rule")
		default:
			add("rules", rule, s)
		}
	}
	addAll := func(key, flagName string, of map[string]settings.Setting, flags map[string]string) {
		names := slices.AppendSeq(slices.Collect(maps.Keys(of)), maps.Keys(flags))
		for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
			if value, given := flags[name]; given {
				flag(key, name, value, flagName)
			} else {
				add(key, name, of[name])
			}
		}
	}
	addAll("substitutions", "--substitute", of.Substitutions, values)
	said := map[string]string{}
	statuses := map[string]settings.Setting{}
	for status, means := range o.settings.Said(file, o.said) {
		if _, given := o.said[status]; given {
			said[status] = string(means)
		} else {
			statuses[status] = of.Statuses[status]
		}
	}
	addAll("statuses", "--status", statuses, said)
	if of.Region.Value != "" {
		add("region", "", of.Region)
	}
	if out.Ignored {
		add("ignore", "", of.Ignored)
	}
	return out
}

// text lists the settings for people.
func (s *shownSettings) text() string {
	var b strings.Builder
	config := s.Config
	if config == "" {
		config = "no " + settings.Name
	}
	terminal.Fprintf(&b, "%s: %s\n", s.File, config)
	rows := make([][3]string, len(s.Settings))
	var widths [2]int
	for i, one := range s.Settings {
		name := one.Key
		if one.Name != "" {
			name += "." + one.Name
		}
		from := one.Flag
		if from == "" {
			from = fmt.Sprintf("%s:%d", one.File, one.Line)
		}
		if one.Files != nil {
			from += "  files: " + strings.Join(one.Files, ", ")
		}
		rows[i] = [3]string{name, one.Value, from}
		for n := range widths {
			widths[n] = max(widths[n], len(rows[i][n]))
		}
	}
	for _, row := range rows {
		terminal.Fprintf(&b, "  %-*s  %-*s  %s\n", widths[0], row[0], widths[1], row[1], row[2])
	}
	if s.Ignored {
		b.WriteString("  a walk of a folder passes over this file\n")
	}
	return b.String()
}
