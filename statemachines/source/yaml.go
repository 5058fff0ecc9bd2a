package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// yamlReader reads a text of YAML. It takes numbers, booleans and null as YAML
// 1.2 does; yes, no and dates are strings.
type yamlReader struct {
	text     *text
	starts   map[*yaml.Node]int
	made     map[*yaml.Node]*value
	open     map[*yaml.Node]bool // being made: an alias to it would contain itself
	merged   int                 // members that merge keys have added
	problems diag.Problems
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// readYAML reads a text of YAML with one document.
func readYAML(t *text) (*value, diag.Problems) {
	all, problems := readDocuments(t)
	switch {
	case problems != nil:
		return nil, problems
	case len(all) > 1:
		return nil, diag.Problems{t.problem(all[1].start, "",
			"another YAML document starts here; a file has one definition or template: put each document into a file of its own")}
	}
	return all[0], nil
}

// readDocuments reads the documents of a text of YAML. Behind the first, empty ones do not
// count.
func readDocuments(t *text) ([]*value, diag.Problems) {
	if problems := checkSize(t, true); problems != nil {
		return nil, problems
	}
	decoder := yaml.NewDecoder(bytes.NewReader(t.bytes))
	c := &cursor{text: t.bytes, line: 1, column: 1}
	r := &yamlReader{text: t, starts: map[*yaml.Node]int{}, made: map[*yaml.Node]*value{}, open: map[*yaml.Node]bool{}}
	var all []*value
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF) && len(all) > 0:
			return all, nil
		case err != nil:
			return nil, diag.Problems{syntaxProblem(t, err)}
		case len(all) > 0 && (len(document.Content) == 0 || document.Content[0].Tag == "!!null"):
			continue
		}
		c.place(&document, r.starts)
		root := r.value(document.Content[0], "")
		if len(r.problems) > 0 {
			return nil, r.problems
		}
		all = append(all, root)
	}
}

func syntaxProblem(t *text, err error) diag.Problem {
	if errors.Is(err, io.EOF) {
		return t.problem(0, "", "the file is empty; expected a state machine definition or a template")
	}
	message := err.Error()
	at := 0
	if found := yamlLine.FindStringSubmatch(message); found != nil {
		message = strings.TrimPrefix(message, found[0])
		if line, err := strconv.Atoi(found[1]); err == nil {
			at = new(ruler).offset(t.bytes, line, 1)
			for at < len(t.bytes) && t.bytes[at] == ' ' {
				at++
			}
		}
	}
	return t.problem(at, "", "not valid YAML: "+message+adviseQuotes(t.bytes[at:]))
}

// adviseQuotes is that of the line of a node, of the first problems alone.
func (r *yamlReader) adviseQuotes(n *yaml.Node) string {
	if len(r.problems) >= diag.MaxShown {
		return ""
	}
	return adviseQuotes(r.text.bytes[bytes.LastIndexByte(r.text.bytes[:r.starts[n]], '\n')+1:])
}

// unquoted is an expression of JSONata, or a reference of CloudFormation, that begins a value
// of YAML.
var unquoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^"'#\n]*[:\-,\[]\s+(\{%|\{\{resolve:)`) })

// adviseQuotes says what to do about a value that needs quotes where the reader of YAML stops,
// which is in its line or in the one before; empty where none is.
func adviseQuotes(text []byte) string {
	for range 2 {
		if found := unquoted().FindSubmatch(text); found != nil {
			return fmt.Sprintf("; put the value that begins with %q in quotes", found[1])
		}
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return ""
}

// cursor turns the lines and columns of nodes into bytes. Nodes are asked for in
// the order of the text, so each is counted from the one before.
type cursor struct {
	text         []byte
	at           int
	line, column int
}

// place notes where the node and those inside of it start.
func (c *cursor) place(n *yaml.Node, starts map[*yaml.Node]int) {
	if n.Line > 0 {
		c.move(n.Line, n.Column)
		starts[n] = c.at
	}
	for _, inner := range n.Content {
		c.place(inner, starts)
	}
}

func (c *cursor) move(line, column int) {
	if line < c.line || line == c.line && column < c.column {
		c.at, c.line, c.column = 0, 1, 1
	}
	if c.at == 0 && bytes.HasPrefix(c.text, []byte("\ufeff")) { // no column
		c.at = len("\ufeff")
	}
	for c.at < len(c.text) && (c.line < line || c.column < column) {
		r, size := utf8.DecodeRune(c.text[c.at:])
		c.at += size
		c.column++
		if r == '\r' && c.at < len(c.text) && c.text[c.at] == '\n' {
			c.at++
		}
		if isBreak(r) {
			c.line, c.column = c.line+1, 1
		}
	}
}

// isBreak tells whether the character ends a line of YAML 1.1.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

func (r *yamlReader) report(n *yaml.Node, pointer, format string, args ...any) {
	if len(r.problems) < diag.MaxShown {
		r.problems = append(r.problems, r.text.problem(r.starts[n], pointer, fmt.Sprintf(format, args...)))
	}
}

// value returns the value of a node. An alias has that of its anchor, made once.
func (r *yamlReader) value(n *yaml.Node, pointer string) *value {
	if n.Kind == yaml.AliasNode {
		if r.open[n.Alias] {
			r.report(n, pointer, "the alias *%s stands inside of what it names, which would never end", n.Value)
			return r.null(n)
		}
		n = n.Alias
	}
	if made := r.made[n]; made != nil {
		return made
	}
	r.open[n] = true
	defer delete(r.open, n)
	v := &value{in: r.text, start: r.starts[n], nested: n.Style&yaml.FlowStyle != 0}
	if tag := n.Tag; strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!") && tag != "!" {
		v.tag = tag
	}
	switch n.Kind {
	case yaml.MappingNode:
		v.kind = jsontree.Object
		r.members(v, n, pointer)
	case yaml.SequenceNode:
		v.kind = jsontree.Array
		for i, item := range n.Content {
			v.items = append(v.items, r.value(item, pointer+"/"+strconv.Itoa(i)))
		}
	default:
		r.scalar(v, n)
	}
	r.made[n] = v
	return v
}

func (r *yamlReader) null(n *yaml.Node) *value {
	return &value{in: r.text, start: r.starts[n], spelt: plainScalar}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (r *yamlReader) members(v *value, n *yaml.Node, pointer string) {
	var merges []*value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, r.value(inner, pointer+"/<<"))
			continue
		}
		name := r.value(key, pointer)
		if name.kind >= jsontree.Array || name.kind == jsontree.Null {
			r.report(key, pointer, "expected a name, which is a string, found %s%s", name.kind, r.adviseQuotes(key))
			continue
		}
		v.members = append(v.members, member{r.spellName(name, key), r.value(inner, pointer+"/"+pointerEscapes.Replace(name.text))})
	}
	if merges == nil {
		return
	}
	has := make(map[string]bool, len(v.members))
	for _, m := range v.members {
		has[m.name.text] = true
	}
	for _, m := range merges {
		r.merge(v, m, has, n, pointer)
	}
}

// spellName returns the name of a member as a string: 200 and true are the names
// "200" and "true".
func (r *yamlReader) spellName(name *value, key *yaml.Node) *value {
	if name.kind == jsontree.String {
		return name
	}
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	spelled := *name
	spelled.kind, spelled.text = jsontree.String, key.Value
	return &spelled
}

// merge adds the members of a mapping, or of each of a list, to v unless it has
// them.
func (r *yamlReader) merge(v, from *value, has map[string]bool, n *yaml.Node, pointer string) {
	switch from.kind {
	case jsontree.Array:
		for _, item := range from.items {
			if item.kind != jsontree.Object {
				r.report(n, pointer, "<< merges mappings, found %s", item.kind)
				return
			}
			r.merge(v, item, has, n, pointer)
		}
	case jsontree.Object:
		if r.merged += len(from.members); r.merged > maxMerged {
			r.report(n, pointer, "merge keys add more than %d members", maxMerged)
			return
		}
		for _, m := range from.members {
			if !has[m.name.text] {
				has[m.name.text] = true
				v.members = append(v.members, m)
			}
		}
	default:
		r.report(n, pointer, "<< merges mappings, found %s", from.kind)
	}
}

func (r *yamlReader) scalar(v *value, n *yaml.Node) {
	v.kind, v.text = jsontree.String, n.Value
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		v.spelt = blockScalar
	case n.Style&yaml.DoubleQuotedStyle != 0:
		v.spelt = doubleQuoted
	case n.Style&yaml.SingleQuotedStyle != 0:
		v.spelt = singleQuoted
	default:
		v.spelt = plainScalar
	}
	if v.tag != "" {
		return
	}
	switch n.ShortTag() {
	case "!!null":
		v.kind, v.text = jsontree.Null, ""
	case "!!bool":
		v.kind, v.text = jsontree.Bool, strings.ToLower(n.Value)
	case "!!int", "!!float":
		if literal, ok := numberLiteral(n); ok {
			v.kind, v.text = jsontree.Number, literal
		}
	}
}

// numberLiteral returns a number of YAML as JSON has it. JSON has no infinity.
func numberLiteral(n *yaml.Node) (string, bool) {
	if json.Valid([]byte(n.Value)) {
		return n.Value, true
	}
	var number any
	if n.Decode(&number) != nil {
		return "", false
	}
	if f, ok := number.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return "", false
	}
	literal, err := json.Marshal(number)
	return string(literal), err == nil
}
