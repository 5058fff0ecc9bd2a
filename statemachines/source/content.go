package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// content is a file's documents, or the reason why it cannot be read.
type content struct {
	file     *file
	mayHold  bool // else it has no word of a state machine, and is not read
	roots    []*value
	problems diag.Problems
}

func readContent(f *file) *content {
	c := &content{file: f, mayHold: mayHold(f.bytes)}
	if c.mayHold {
		c.parse()
	}
	return c
}

// parse reads the text, and what cannot be read with its placeholders in quotes.
func (c *content) parse() {
	f, t := c.file, c.file.whole()
	if !isYAML(f.name, f.bytes) {
		var root *value
		if root, c.problems = readJSON(t); c.problems != nil {
			root, c.problems = readJSON(quoteBare(t))
		}
		if c.problems == nil {
			c.roots = []*value{root}
		} else if all := readValues(t); len(all) > 1 {
			c.roots, c.problems = all, nil
		}
		return
	}
	c.roots, c.problems = readDocuments(t)
	quoteNamed := func(t *text) *text { return quoteYAML(nameValues(t)) }
	for _, change := range []func(*text) *text{nameValues, quoteNamed, quoteBare} {
		if c.problems == nil {
			break
		}
		if again, problems := readDocuments(change(t)); problems == nil {
			c.roots, c.problems = again, nil
		}
	}
}

// readValues reads values of JSON that stand one behind the other, such as several answers of
// AWS; none if one of them cannot be read.
func readValues(t *text) []*value {
	if checkSize(t, false) != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(t.bytes))
	var all []*value
	for from := 0; ; {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			return nil
		}
		end := int(decoder.InputOffset())
		var w writer
		w.copy(t, from, end)
		root, problems := readJSON(w.text(t.file))
		if problems != nil {
			return nil
		}
		all, from = append(all, root), end
	}
}

// mayHold tells whether a text has the words of a state machine.
func mayHold(text []byte) bool {
	has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	return has("StartAt") && has("States") || holdsTemplate(text) || has("stepFunctions") ||
		has(terraformMachine) || has(pulumiMachine) || has(ansibleModule) || has("stateMachineArn") && has("kmsKeyId")
}

// holdsTemplate tells whether a text may be a template with a state machine.
func holdsTemplate(text []byte) bool {
	return bytes.Contains(text, []byte("Resources")) &&
		slices.ContainsFunc(machineTypes, func(kind string) bool { return bytes.Contains(text, []byte(kind)) })
}

// isFlow tells whether a value has the members of a definition.
func isFlow(v *value) bool { return v.get("StartAt") != nil && v.get("States") != nil }

// isServerless tells whether a definition is one that the Serverless Framework takes from a
// file of its own: a function of CloudFormation or a variable names what a Task calls.
func isServerless(definition *value) bool {
	states := definition.get("States")
	return states != nil && slices.ContainsFunc(states.members, func(m member) bool {
		resource := m.value.get("Resource")
		if resource == nil {
			return false
		}
		function, _ := intrinsic(resource)
		return function != "" || slices.ContainsFunc(variableForm().FindAllString(resource.text, -1), func(form string) bool {
			return form[0] == '#' || strings.Contains(form, ",")
		})
	})
}

// isFlowText tells whether a text has the members of a definition, as people and programs
// indent them.
func isFlowText(text []byte) bool { return startsAt().Match(text) && hasStates().Match(text) }

var (
	startsAt  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t{]*["']?StartAt["']?\s*:`) })
	hasStates = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t{]*["']?States["']?\s*:`) })
)

// isTemplate tells whether a value is a template with a state machine.
func isTemplate(v *value) bool {
	resources := v.get("Resources")
	return resources != nil && hasMachine(resources)
}

func hasMachine(resources *value) bool {
	return slices.ContainsFunc(resources.members, func(m member) bool {
		kind, _ := m.value.textOf("Type")
		return slices.Contains(machineTypes, kind) || strings.HasPrefix(m.name.text, "Fn::ForEach::") && len(m.value.items) > 2 && hasMachine(m.value.items[2])
	})
}

// isYAML tells in which language a file is written: by its name, else by how it
// begins.
func isYAML(name string, text []byte) bool {
	switch path.Ext(name) {
	case ".json":
		return false
	case ".yaml", ".yml":
		return !json.Valid(text)
	default:
		return !startsAsJSON(text)
	}
}

func startsAsJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

func readTree(t *text, yaml bool) (*value, diag.Problems) {
	if yaml {
		return readYAML(t)
	}
	return readJSON(t)
}
