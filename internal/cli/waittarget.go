package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// waitTarget is one job or resource to wait for.
type waitTarget struct {
	id    string // as the user wrote it; empty if only the input says it
	input any    // of the describe call, in the model's spelling
}

// maxTargets is how many waits may go on at once: each polls by itself.
const maxTargets = 100

// waitSubject is the waiter, the IDs and the members that the command line names.
type waitSubject struct {
	entry  *catalog.Entry
	ids    []string // "-" stands for those on standard input
	input  string   // of --input
	params params
}

// targets reads all that is to be waited for. It refuses what does not fit the model.
func (s *waitSubject) targets(stdinput io.Reader) ([]waitTarget, error) {
	if (s.input == stdin || s.input == "@"+stdin) && slices.Contains(s.ids, stdin) {
		return nil, usage("standard input has either the IDs or --input: give one of them otherwise")
	}
	if len(s.ids) == 0 && s.input == "" && len(s.params) == 0 && s.entry.Operation.Input != nil {
		return nil, usage("wait needs to know what to wait for: %s", s.howToSay(nil))
	}
	whole := callInput{op: s.entry.Operation, text: s.input, params: s.params, whole: len(s.ids) == 0 && len(s.params) == 0}
	base, err := whole.read(stdinput)
	if err != nil {
		return nil, err
	}
	given := append(s.params.names(s.entry.Operation.Input), slices.Sorted(maps.Keys(base))...)
	partial, err := s.expand(stdinput, given)
	if err != nil {
		return nil, err
	}
	var all []waitTarget
	for _, p := range partial {
		input := maps.Clone(base)
		maps.Copy(input, p.input.(map[string]any)) //nolint:forcetypeassert // expand makes objects
		if err := s.params.set(input, s.entry.Operation.Input); err != nil {
			return nil, usage("%w", err)
		}
		if missing := whole.missing(input); len(missing) > 0 && s.input == "" {
			return nil, usage("%s needs %s: %s", s.entry.Operation.Name, strings.Join(missing, " and "), s.howToSay(missing))
		}
		if p.input, err = whole.fit(input); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(other waitTarget) bool { return p.id != "" && other.id == p.id }) {
			all = append(all, p)
		}
		if len(all) > maxTargets {
			return nil, usage("wait takes at most %d IDs at once, found more", maxTargets)
		}
	}
	return all, nil
}

// howToSay shows a command line that says what to wait for. It has the members that
// are missing, or an ID.
func (s *waitSubject) howToSay(missing []string) string {
	e := s.entry
	command := fmt.Sprintf("jobpoller wait %s %s", e.Service.Key, e.Name)
	if len(missing) == 0 {
		return command + " " + waitArguments(e)
	}
	for _, id := range s.ids {
		command += " " + id
	}
	for _, p := range s.params {
		command += " --param " + p
	}
	for _, name := range missing {
		command += fmt.Sprintf(" --param %s=...", name)
	}
	return command
}

// waitArguments are the arguments of wait that say what to wait for.
func waitArguments(e *catalog.Entry) string {
	id := findID(e, nil)
	var words []string
	if id != nil {
		words = append(words, strings.ToUpper(kebab(id.name())))
		if len(id.members) > 1 {
			words = []string{strings.ToUpper(kebab(id.members[0].Name))}
		}
	}
	for _, m := range inputMembers(e) {
		isID := id != nil && slices.ContainsFunc(id.members, func(of *catalog.Member) bool { return of.Name == m.Name })
		if (m.Required || m.In == catalog.InPath) && !isID {
			words = append(words, fmt.Sprintf("--param %s=...", m.Name))
		}
	}
	if words == nil && len(inputMembers(e)) > 0 {
		return "--param NAME=VALUE, with " + inputOf(e.Operation)
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
func (s *waitSubject) expand(stdinput io.Reader, given []string) ([]waitTarget, error) {
	if len(s.ids) == 0 {
		return []waitTarget{{input: map[string]any{}}}, nil
	}
	place := findID(s.entry, given)
	if without := findID(s.entry, nil); place == nil && without != nil {
		return nil, usage("%s has both an ID and --param or --input: pass one of them", without.name())
	}
	var all []waitTarget
	for _, id := range s.ids {
		if id != stdin {
			t, err := s.target(place, id)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
			continue
		}
		text, err := readText(stdin, stdinput)
		if err != nil {
			return nil, usage("IDs on standard input: %w", err)
		}
		more, err := s.readIDs(place, text)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

func (s *waitSubject) target(place *idPlace, id string) (waitTarget, error) {
	if id == "" {
		return waitTarget{}, usage("an ID is empty: is the variable of the shell set? %s", s.howToSay(nil))
	}
	if s.entry.Service.Key == s3Key && strings.HasPrefix(id, s3Scheme) {
		return s.targetOfURI(id)
	}
	if place == nil {
		return waitTarget{}, usage("the ID %q could be %s: say which with --param, as in jobpoller wait %s %s --param NAME=%s",
			id, memberNames(s.entry), s.entry.Service.Key, s.entry.Name, id)
	}
	input := map[string]any{}
	if err := place.fill(input, id); err != nil {
		return waitTarget{}, usage("%w", err)
	}
	return waitTarget{id: id, input: input}, nil
}

// s3Key is the service whose resources have URIs, which begin with s3Scheme.
const (
	s3Key    = "s3"
	s3Scheme = "s3://"
)

// targetOfURI reads the URI of a bucket or an object, as the AWS CLI writes them.
func (s *waitSubject) targetOfURI(uri string) (waitTarget, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(uri, s3Scheme), "/")
	input := map[string]any{"Bucket": bucket}
	form, takesKey := s3Scheme+"BUCKET", strings.HasPrefix(s.entry.Name, "Object")
	if takesKey {
		input["Key"] = key
		form += "/KEY"
	}
	if bucket == "" || (key != "") != takesKey {
		return waitTarget{}, usage("%s waits for %s, found %s", s.entry.Name, form, uri)
	}
	return waitTarget{id: uri, input: input}, nil
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
		return inputOf(e.Operation)
	}
	return orList(names)
}
