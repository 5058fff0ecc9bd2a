package wait

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Target is one job or resource to wait for.
type Target struct {
	id    string // as the user wrote it; empty if only the input says it
	Input any    // of the describe call, in the model's spelling
}

// maxTargets is how many waits may go on at once: each polls by itself.
const maxTargets = 100

// Subject is the waiter, the IDs and the members that the command line names.
type Subject struct {
	Entry  *catalog.Entry
	IDs    []string // "-" stands for those on standard input
	input  string   // of --input
	Params kit.Params
}

// Targets reads all that is to be waited for. It refuses what does not fit the model.
func (s *Subject) Targets(stdinput io.Reader) ([]Target, error) {
	if (s.input == kit.Stdin || s.input == "@"+kit.Stdin) && slices.Contains(s.IDs, kit.Stdin) {
		return nil, kit.Usage("standard input has either the IDs or --input: give one of them otherwise")
	}
	if len(s.IDs) == 0 && s.input == "" && len(s.Params) == 0 && s.Entry.Operation.Input != nil {
		return nil, kit.Usage("wait needs to know what to wait for: %s", s.howToSay(nil))
	}
	whole := kit.CallInput{Op: s.Entry.Operation, Text: s.input, Params: s.Params, Whole: len(s.IDs) == 0 && len(s.Params) == 0}
	base, err := whole.Read(stdinput)
	if err != nil {
		return nil, err
	}
	given := append(s.Params.Names(s.Entry.Operation.Input), slices.Sorted(maps.Keys(base))...)
	partial, err := s.expand(stdinput, given)
	if err != nil {
		return nil, err
	}
	var all []Target
	for _, p := range partial {
		input := maps.Clone(base)
		maps.Copy(input, p.Input.(map[string]any)) //nolint:forcetypeassert // expand makes objects
		if err := s.Params.Set(input, s.Entry.Operation.Input); err != nil {
			return nil, kit.Usage("%w", err)
		}
		if missing := whole.Op.Missing(input); len(missing) > 0 && s.input == "" {
			return nil, kit.Usage("%s needs %s: %s", s.Entry.Operation.Name, strings.Join(missing, " and "), s.howToSay(missing))
		}
		if p.Input, err = whole.Fit(input); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(other Target) bool { return p.id != "" && other.id == p.id }) {
			all = append(all, p)
		}
		if len(all) > maxTargets {
			return nil, kit.Usage("wait takes at most %d IDs at once, found more", maxTargets)
		}
	}
	return all, nil
}

// howToSay shows a command line that says what to wait for. It has the members that
// are missing, or an ID.
func (s *Subject) howToSay(missing []string) string {
	e := s.Entry
	command := fmt.Sprintf("jobpoller wait %s %s", e.Service.Key, e.Name)
	if len(missing) == 0 {
		return command + " " + ArgumentsOf(e)
	}
	for _, id := range s.IDs {
		command += " " + id
	}
	for _, p := range s.Params {
		command += " --param " + p
	}
	for _, name := range missing {
		command += fmt.Sprintf(" --param %s=...", name)
	}
	return command
}

// ArgumentsOf are the arguments of wait that say what to wait for.
func ArgumentsOf(e *catalog.Entry) string {
	id := findID(e, nil)
	var words []string
	if id != nil {
		words = append(words, strings.ToUpper(kit.Kebab(id.name())))
		if len(id.members) > 1 {
			words = []string{strings.ToUpper(kit.Kebab(id.members[0].Name))}
		}
	}
	for _, m := range inputMembers(e) {
		isID := id != nil && slices.ContainsFunc(id.members, func(of *catalog.Member) bool { return of.Name == m.Name })
		if (m.Required || m.In == catalog.InPath) && !isID {
			words = append(words, fmt.Sprintf("--param %s=...", m.Name))
		}
	}
	if words == nil && len(inputMembers(e)) > 0 {
		return "--param NAME=VALUE, with " + kit.InputOf(e.Operation)
	}
	return strings.Join(words, " ")
}

func inputMembers(e *catalog.Entry) catalog.Members {
	if e.Operation.Input == nil {
		return nil
	}
	return e.Operation.Input.Members
}

// expand gives each ID its part of an input. Without an ID there is one empty part.
func (s *Subject) expand(stdinput io.Reader, given []string) ([]Target, error) {
	if len(s.IDs) == 0 {
		return []Target{{Input: map[string]any{}}}, nil
	}
	place := findID(s.Entry, given)
	if without := findID(s.Entry, nil); place == nil && without != nil {
		return nil, kit.Usage("%s has both an ID and --param or --input: pass one of them", without.name())
	}
	var all []Target
	for _, id := range s.IDs {
		if id != kit.Stdin {
			t, err := s.target(place, id)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
			continue
		}
		text, err := kit.ReadText(kit.Stdin, stdinput)
		if err != nil {
			return nil, kit.Usage("IDs on standard input: %w", err)
		}
		more, err := s.readIDs(place, text)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

func (s *Subject) target(place *idPlace, id string) (Target, error) {
	if id == "" {
		return Target{}, kit.Usage("an ID is empty: is the variable of the shell set? %s", s.howToSay(nil))
	}
	if s.Entry.Service.Key == s3Key && strings.HasPrefix(id, s3Scheme) {
		return s.targetOfURI(id)
	}
	if place == nil {
		return Target{}, kit.Usage("the ID %q could be %s: say which with --param, as in jobpoller wait %s %s --param NAME=%s",
			id, memberNames(s.Entry), s.Entry.Service.Key, s.Entry.Name, id)
	}
	input := map[string]any{}
	if err := place.fill(input, id); err != nil {
		return Target{}, kit.Usage("%w", err)
	}
	return Target{id: id, Input: input}, nil
}

// s3Key is the service whose resources have URIs, which begin with s3Scheme.
const (
	s3Key    = "s3"
	s3Scheme = "s3://"
)

// targetOfURI reads the URI of a bucket or an object, as the AWS CLI writes them.
func (s *Subject) targetOfURI(uri string) (Target, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(uri, s3Scheme), "/")
	input := map[string]any{"Bucket": bucket}
	form, takesKey := s3Scheme+"BUCKET", strings.HasPrefix(s.Entry.Name, "Object")
	if takesKey {
		input["Key"] = key
		form += "/KEY"
	}
	if bucket == "" || (key != "") != takesKey {
		return Target{}, kit.Usage("%s waits for %s, found %s", s.Entry.Name, form, uri)
	}
	return Target{id: uri, Input: input}, nil
}

// memberNames lists the members of the describe call's input that could be an ID.
func memberNames(e *catalog.Entry) string {
	var names []string
	for _, m := range inputMembers(e) {
		if isIDShape(m.Shape) && (m.Required || m.In == catalog.InPath || idStem(m.Name) != noStem) {
			names = append(names, m.Name)
		}
	}
	if names == nil {
		return kit.InputOf(e.Operation)
	}
	return kit.OrList(names)
}
