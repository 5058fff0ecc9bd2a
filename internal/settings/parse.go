package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// maxValues bounds the values of a config file, with those that aliases repeat.
const maxValues = 10_000

// Parse reads a config file. Name is how messages name it. Its error is diag.Problems.
func Parse(name string, text []byte, words Vocabulary) (*Config, error) {
	r := &reader{name: name, text: text, words: words}
	c := r.config()
	return c, r.problems.Err()
}

// reader reads a config file, and notes all that is wrong.
type reader struct {
	name     string
	text     []byte
	words    Vocabulary
	values   int // that were read
	problems diag.Problems
}

// fail notes a problem at a line and a column.
func (r *reader) fail(line, column int, format string, args ...any) *diag.Problem {
	if len(r.problems) >= diag.MaxShown { // which takes no look at the text
		r.problems = append(r.problems, diag.Hidden("", ""))
		return &r.problems[len(r.problems)-1]
	}
	p := diag.AtPlace(r.text, r.offset(line, column), line, column, "", fmt.Sprintf(format, args...))
	p.File = r.name
	r.problems = append(r.problems, p)
	return &r.problems[len(r.problems)-1]
}

// report notes a problem of a node.
func (r *reader) report(n *yaml.Node, format string, args ...any) *diag.Problem {
	return r.fail(max(n.Line, 1), max(n.Column, 1), format, args...)
}

// offset is the byte at a line and a column.
func (r *reader) offset(line, column int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(r.text[at:], '\n')
		if i < 0 {
			return len(r.text)
		}
		at += i + 1
	}
	for i := range string(r.text[at:]) {
		if column--; column == 0 || r.text[at+i] == '\n' {
			return at + i
		}
	}
	return len(r.text)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// config reads the file.
func (r *reader) config() *Config {
	c := &Config{file: r.name, base: newBlock()}
	if len(r.text) > maxBytes {
		r.fail(1, 1, "the file has more than %d bytes, which no settings have", maxBytes)
		return c
	}
	decoder := yaml.NewDecoder(bytes.NewReader(r.text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return c // it is empty
	}
	if err == nil {
		if err = decoder.Decode(&second); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			r.report(&second, "another YAML document starts here: the settings are one document")
		}
	}
	if err != nil {
		message, line := err.Error(), 1
		if found := yamlLine.FindStringSubmatch(message); found != nil {
			message = strings.TrimPrefix(message, found[0])
			if n, err := strconv.Atoi(found[1]); err == nil {
				line = max(n, 1)
			}
		}
		r.fail(line, 1, "not valid YAML: %s", message)
		return c
	}
	if root := document.Content[0]; root.ShortTag() != "!!null" {
		r.root(c, root)
	}
	return c
}

func newBlock() block {
	return block{rules: map[string]Setting{}, substitutions: map[string]Setting{}, statuses: map[string]Setting{}}
}

// root reads the members of the file.
func (r *reader) root(c *Config, n *yaml.Node) {
	keys := r.blockKeys(&c.base, nil)
	keys[jsontree.SchemaMember] = func(n *yaml.Node) {
		if address := r.resolve(n); address.ShortTag() != "!!str" {
			r.report(n, "expected the address of a JSON Schema, found %s", kindOf(address))
		}
	}
	keys["ignore"] = func(n *yaml.Node) {
		for g, item := range r.globs(n) {
			c.ignore = append(c.ignore, ignored{g, r.place(item, nil)})
		}
	}
	keys["overrides"] = func(n *yaml.Node) {
		for _, item := range r.items(n, "a list, each item with files and what counts for them") {
			c.overrides = append(c.overrides, r.override(item))
		}
	}
	r.members(n, "the settings", keys)
}

// override reads a block for some files.
func (r *reader) override(n *yaml.Node) override {
	o := override{block: newBlock()}
	var patterns []string
	mapping := r.resolve(n)
	files := memberOf(mapping, "files")
	if files != nil { // the other members name the patterns
		for g := range r.globs(files) {
			o.files, patterns = append(o.files, g), append(patterns, g.text)
		}
	} else if mapping.Kind == yaml.MappingNode {
		r.report(n, "the override has no files: add patterns, as files: [\"legacy/**\"]")
	}
	keys := r.blockKeys(&o.block, patterns)
	keys["files"] = func(*yaml.Node) {}
	r.members(n, "an override", keys)
	return o
}

// memberOf is a member of a mapping; nil if it has none of the name.
func memberOf(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Kind == yaml.MappingNode && mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// blockKeys are the readers of a block's members.
func (r *reader) blockKeys(b *block, files []string) map[string]func(*yaml.Node) {
	return map[string]func(*yaml.Node){
		"rules": func(n *yaml.Node) { r.rules(n, b.rules, files) },
		"substitutions": func(n *yaml.Node) {
			r.texts(n, "substitutions", b.substitutions, files, func(_, _ *yaml.Node) bool { return true })
		},
		"statuses": func(n *yaml.Node) {
			r.texts(n, "statuses", b.statuses, files, func(key, value *yaml.Node) bool {
				return r.word(value, "the meaning of "+strconv.Quote(key.Value), r.words.Meanings)
			})
		},
		"region": func(n *yaml.Node) {
			text, ok := r.scalar(n, "a region, such as eu-west-1")
			if !ok {
				return
			}
			if err := r.words.CheckRegion(text); err != nil {
				r.report(n, "%v", err)
				return
			}
			b.region = Setting{r.place(n, files), text}
		},
	}
}

// rules reads the levels of rules.
func (r *reader) rules(n *yaml.Node, into map[string]Setting, files []string) {
	for key, value := range r.pairs(n, "rules") {
		reason, fixed := r.words.Fixed[key.Value]
		switch {
		case fixed:
			r.report(key, "the rule %s is always checked: %s", key.Value, reason)
		case !slices.Contains(r.words.Rules, key.Value):
			r.report(key, "there is no rule %q; list them: jobpoller lint --rules", key.Value).Suggestion = nearest.Word(key.Value, r.words.Rules)
		case r.word(value, "the level of "+key.Value, levelNames()):
			into[key.Value] = Setting{r.place(key, files), r.resolve(value).Value}
		}
	}
}

// texts reads texts by their names.
func (r *reader) texts(n *yaml.Node, what string, into map[string]Setting, files []string, check func(key, value *yaml.Node) bool) {
	for key, value := range r.pairs(n, what) {
		if key.Value == "" {
			r.report(key, "expected a name, found an empty text")
			continue
		}
		if text, ok := r.scalar(value, "a text or a number"); ok && check(key, value) {
			into[key.Value] = Setting{r.place(key, files), text}
		}
	}
}

func (r *reader) place(n *yaml.Node, files []string) Place {
	return Place{r.name, max(n.Line, 1), max(n.Column, 1), files}
}

// members calls the reader of each member of a mapping.
func (r *reader) members(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) {
	for key, value := range r.pairs(n, what) {
		read := keys[key.Value]
		if read == nil {
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(keys)), func(name string) bool { return name == jsontree.SchemaMember })
			r.report(key, "%s cannot have %q, expected %s", what, key.Value, strings.Join(names, ", ")).Suggestion = nearest.Word(key.Value, names)
			continue
		}
		if r.resolve(value).ShortTag() != "!!null" { // a key without a value says nothing
			read(value)
		}
	}
}

// resolve returns what an alias stands for.
func (*reader) resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// counts tells whether one more value may be read.
func (r *reader) counts(n *yaml.Node) bool {
	if r.values++; r.values == maxValues+1 {
		r.report(n, "at most %d values are read, with those that aliases repeat: write fewer", maxValues)
	}
	return r.values <= maxValues
}

// pairs are the members of a mapping.
func (r *reader) pairs(n *yaml.Node, what string) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		mapping := r.resolve(n)
		if mapping.Kind != yaml.MappingNode {
			r.report(n, "%s must be a mapping, with a name and a value a line, found %s", what, kindOf(mapping))
			return
		}
		seen := map[string]int{}
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			key, value := mapping.Content[i], mapping.Content[i+1]
			line, known := seen[key.Value]
			switch {
			case !r.counts(key):
				return
			case key.Kind != yaml.ScalarNode:
				r.report(key, "expected a name, found %s", kindOf(r.resolve(key)))
			case known:
				r.report(key, "%q stands here twice, first on line %d", key.Value, line)
			case !yield(key, value):
				return
			}
			seen[key.Value] = key.Line
		}
	}
}

// items are those of a list.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	list := r.resolve(n)
	if list.Kind != yaml.SequenceNode {
		r.report(n, "expected %s, found %s", what, kindOf(list))
		return nil
	}
	for i, item := range list.Content {
		if !r.counts(item) {
			return list.Content[:i]
		}
	}
	return list.Content
}

// globs are the patterns of a list.
func (r *reader) globs(n *yaml.Node) func(yield func(g glob, at *yaml.Node) bool) {
	return func(yield func(g glob, at *yaml.Node) bool) {
		for _, item := range r.items(n, `a list of patterns, such as ["legacy/**"]`) {
			text, ok := r.scalar(item, "a pattern of paths")
			if !ok {
				continue
			}
			g, err := parseGlob(text)
			if err != nil {
				r.report(item, "%q is no pattern of paths: %v", text, err)
			} else if !yield(g, item) {
				return
			}
		}
	}
}

// word reads one of some words.
func (r *reader) word(n *yaml.Node, what string, words []string) bool {
	text, ok := r.scalar(n, strings.Join(words, ", "))
	if ok && !slices.Contains(words, text) {
		r.report(n, "%s must be one of %s, is %q", what, strings.Join(words, ", "), text).Suggestion = nearest.Word(text, words)
		return false
	}
	return ok
}

// scalar reads a text, or a number or boolean as it is written.
func (r *reader) scalar(n *yaml.Node, want string) (string, bool) {
	v := r.resolve(n)
	if v.Kind == yaml.ScalarNode && slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}, v.ShortTag()) {
		return v.Value, true
	}
	r.report(n, "expected %s, found %s", want, kindOf(v))
	return "", false
}

// kindOf names what a node is, for people.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	case n.ShortTag() == "!!int", n.ShortTag() == "!!float":
		return "a number"
	case n.ShortTag() == "!!bool":
		return "a boolean"
	case strings.HasPrefix(n.ShortTag(), "!!"):
		return "a text"
	default:
		return "the tag " + n.ShortTag()
	}
}
