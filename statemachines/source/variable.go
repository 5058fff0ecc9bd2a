package source

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// variables puts in the variables of the Serverless Framework, "${self:custom.x}", as far
// as its files say their values. The others become placeholders.
type variables struct {
	*loader

	file  *file
	root  *value // of serverless.yml; nil if it is not known
	made  map[*value]*value
	open  map[*value]bool // being made: a variable of it would contain itself
	files map[string]*readFile
	moved int // values of other files that stand at a variable
	bytes int // of all texts that were put together
	asked int // expressions
	depth int // of expressions whose values other expressions give
	// braced tells that "{{ x }}" is a variable, too.
	braced bool
}

// readFile is a file that a variable names.
type readFile struct {
	file     *file
	root     *value
	problems diag.Problems
	err      error
	outside  bool // it lies where nothing is read
}

func newVariables(l *loader, f *file, root *value) *variables {
	return &variables{loader: l, file: f, root: root, made: map[*value]*value{}, open: map[*value]bool{}, files: map[string]*readFile{}}
}

// variableForm is "${...}" without another in it, or "#{...}", which becomes "${...}" of
// CloudFormation.
var variableForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$#]\{[^{}]*\}`) })

const (
	// maxNested bounds how deep variables stand in each other's names and values.
	maxNested = 8
	// maxAsked bounds the variables of a file, those within values of others, too.
	maxAsked = 20_000
)

// lone returns the value of a variable that is the whole of a string, wherever it stands;
// any other value as it is. It is nil for a variable that is not known.
func (r *variables) lone(v *value) *value {
	for range maxNested {
		if v == nil || v.kind != jsontree.String || v.tag != "" {
			return v
		}
		form := strings.TrimSpace(v.text)
		if !isLone(form) {
			return v
		}
		v = r.evaluate(form[len("${"):len(form)-len("}")], v)
	}
	return nil
}

// isLone tells whether a text is one variable and nothing else.
func isLone(text string) bool {
	return strings.HasPrefix(text, "${") && endOfExpression([]byte(text), len("${"), false) == len(text)
}

// expand returns the value with its variables put in. Values share what they share in the
// file.
func (r *variables) expand(v *value) *value {
	if made := r.made[v]; made != nil {
		return made
	}
	if r.open[v] {
		return unknown(v, v.text)
	}
	r.open[v] = true
	defer delete(r.open, v)
	made := v
	switch {
	case v.kind >= jsontree.Array:
		made = r.expandItems(v)
	case v.kind == jsontree.String && strings.Contains(v.text, "{"):
		made = r.expandText(v)
	}
	r.made[v] = made
	return made
}

func (r *variables) expandItems(v *value) *value {
	made := *v
	made.items, made.members = nil, nil
	for _, item := range v.items {
		made.items = append(made.items, r.expand(item))
	}
	for _, m := range v.members {
		made.members = append(made.members, member{m.name, r.expand(m.value)})
	}
	made.after = v.end()
	return &made
}

// expandText puts variables into a string. One that is the whole of it keeps its type.
func (r *variables) expandText(v *value) *value {
	if r.braced && strings.Contains(v.text, "{{") {
		named := compose(v, nameBraces(v.chars()))
		named.tag = v.tag
		v = named
	}
	if form := strings.TrimSpace(v.text); isLone(form) {
		expression := form[len("${") : len(form)-len("}")]
		found := r.evaluate(expression, v)
		if found == nil {
			return unknown(v, expression)
		}
		return r.put(v, r.expand(found))
	}
	chars := v.chars()
	for range maxNested {
		again := r.substitute(v, chars)
		if again == chars {
			break
		}
		chars = again
	}
	if string(chars.bytes) == v.text {
		return v
	}
	made := compose(v, chars)
	made.tag = v.tag
	return made
}

// substitute puts values in for the innermost variables of a text.
func (r *variables) substitute(at *value, t *text) *text {
	var w writer
	from := 0
	for _, form := range variableForm().FindAllIndex(t.bytes, -1) {
		written := string(t.bytes[form[0]:form[1]])
		text, ok := r.textFor(at, written)
		if !ok || text == written {
			continue
		}
		w.copy(t, from, form[0])
		w.replace(t, asl.PlaceholderForm{Start: form[0], End: form[1]}, text)
		from = form[1]
	}
	if from == 0 {
		return t
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file)
}

// textFor returns what a text has in the place of a variable: its value, or a placeholder.
// It has nothing for a form that CloudFormation fills in.
func (r *variables) textFor(at *value, form string) (string, bool) {
	expression := form[len("${") : len(form)-len("}")]
	placeholder := "${" + placeholderName(expression) + "}"
	switch {
	case form[0] == '#':
		return placeholder, true
	case !isVariable(expression):
		return "", false
	}
	if found := r.evaluate(expression, at); found != nil {
		if text, ok := r.expand(found).literal(); ok && !r.fills(len(text)) {
			return text, true
		}
	}
	return placeholder, true
}

// fills tells whether texts with so many bytes more are larger than any definitions.
func (r *variables) fills(size int) bool {
	r.bytes += size
	return size > asl.MaxDefinitionBytes || r.bytes > maxComposed
}

// isVariable tells whether an expression is one of the Serverless Framework, not the name
// of something in CloudFormation.
func isVariable(expression string) bool {
	before, _, ok := strings.Cut(expression, ":")
	return strings.HasPrefix(expression, "file(") || strings.Contains(expression, ",") ||
		ok && before != "AWS" && !strings.HasPrefix(expression, before+"::")
}

// put returns a value at the place of the variable that gives it. What stands in the same
// file keeps its own place.
func (r *variables) put(v, found *value) *value {
	switch {
	case found.kind < jsontree.Array:
		var w writer
		w.put(found.text, v.origin())
		made := compose(v, w.text(v.in.file))
		made.kind, made.open, made.tag = found.kind, found.open, found.tag
		return made
	case found.in.file == v.in.file:
		return nameFunction(v, found)
	default:
		return r.move(v, found)
	}
}

// move returns a value of another file at the place of the variable that gives it.
func (r *variables) move(v, found *value) *value {
	if r.moved++; r.moved > maxAliased {
		return unknown(v, v.text)
	}
	if found.kind < jsontree.Array {
		return r.put(v, found)
	}
	made := &value{kind: found.kind, tag: found.tag, in: v.in, start: v.start, after: v.end(), function: v}
	for _, item := range found.items {
		made.items = append(made.items, r.move(v, item))
	}
	for _, m := range found.members {
		made.members = append(made.members, member{r.put(v, m.name), r.move(v, m.value)})
	}
	return made
}

// evaluate returns what an expression stands for: the first of its alternatives that has a
// value. It is nil where only a deployment knows that.
func (r *variables) evaluate(expression string, at *value) *value {
	r.depth++
	defer func() { r.depth-- }()
	if r.asked++; r.asked > maxAsked || r.depth > maxNested*maxNested {
		return nil
	}
	if expression = r.complete(expression, at); strings.Contains(expression, "${") {
		return nil
	}
	for _, one := range alternatives(expression) {
		found, known := r.alternative(one, at)
		if !known || found != nil && found.kind != jsontree.Null {
			return found
		}
	}
	return nil
}

// complete puts in the variables within an expression.
func (r *variables) complete(expression string, at *value) string {
	for range maxNested {
		t := &text{file: at.in.file, bytes: []byte(expression), spans: []span{{origin: at.origin()}}}
		again := string(r.substitute(at, t).bytes)
		if again == expression {
			break
		}
		expression = again
	}
	return expression
}

// alternative returns the value of one alternative. It has none if it is known and nil.
func (r *variables) alternative(text string, at *value) (found *value, known bool) {
	if literal := literalOf(text, at); literal != nil {
		return literal, true
	}
	if given, ok := r.valuesIn(r.file.name)(text); ok {
		return valueOf(given, at), true
	}
	kind, name, _ := strings.Cut(text, ":")
	switch {
	case strings.HasPrefix(text, "file("):
		return r.fromFile(text)
	case kind == "self" && r.root != nil:
		return r.follow(r.root, name), true
	case kind == "opt":
		return nil, true // not given, so the next alternative counts
	case text == "sls:stage" && r.root != nil:
		if given, ok := r.valuesIn(r.file.name)("opt:stage"); ok {
			return valueOf(given, at), true
		}
		if stage := r.follow(r.root, "provider.stage"); stage != nil {
			return stage, true
		}
		return valueOf("dev", at), true
	default:
		return nil, false
	}
}

// follow returns the value at a path of members and indices, or nil.
func (r *variables) follow(v *value, at string) *value {
	if at == "" {
		return v
	}
	for step := range strings.SplitSeq(at, ".") {
		if v = r.lone(v); v == nil {
			return nil
		}
		v = v.child(step)
	}
	return v
}

// fileForm is a file, and the path in it.
var fileForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^file\(\s*([^()]*?)\s*\)(?::(.*))?$`) })

// fromFile returns the value of a variable that names a file.
func (r *variables) fromFile(text string) (found *value, known bool) {
	form := fileForm().FindStringSubmatch(text)
	if form == nil {
		return nil, false
	}
	read := r.readFile(form[1])
	if read.root == nil {
		return nil, false
	}
	return r.follow(read.root, form[2]), true
}

// readFile reads a file beside serverless.yml, once. A program has no value.
func (r *variables) readFile(name string) *readFile {
	name = strings.Trim(name, `'"`)
	if read := r.files[name]; read != nil {
		return read
	}
	read := &readFile{}
	r.files[name] = read
	if !slices.Contains([]string{".json", ".yml", ".yaml"}, path.Ext(name)) {
		return read
	}
	located, ok := r.besides(r.file.name, name)
	if !ok || path.IsAbs(name) || strings.ContainsAny(name, `\:`) {
		read.outside = true
		read.err = errorf("%s lies outside of the folder of serverless.yml and of the working directory", name)
		return read
	}
	var bytes []byte
	if bytes, read.err = r.readRegular(r.file.name, located); read.err != nil {
		return read
	}
	read.file = &file{name: located, bytes: bytes}
	read.root, read.problems = readTree(read.file.whole(), isYAML(located, bytes))
	return read
}

// alternatives are the parts of an expression that commas part, outside of quotes and
// brackets.
func alternatives(expression string) []string {
	var all []string
	from, depth, quote := 0, 0, byte(0)
	for i := range len(expression) {
		switch c := expression[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			all = append(all, strings.TrimSpace(expression[from:i]))
			from = i + 1
		}
	}
	return append(all, strings.TrimSpace(expression[from:]))
}

// valueOf returns the value of what the user gives: a number, a boolean, or any text.
func valueOf(given string, at *value) *value {
	if literal := literalOf(given, at); literal != nil && literal.kind != jsontree.String {
		return literal
	}
	return textAt(at, jsontree.String, given)
}

// literalOf returns the value of a literal: a text in quotes, a number, a boolean.
func literalOf(text string, at *value) *value {
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return textAt(at, jsontree.String, text[1:n-1])
	}
	if text == "true" || text == "false" {
		return textAt(at, jsontree.Bool, text)
	}
	if _, err := strconv.Atoi(text); err == nil {
		return textAt(at, jsontree.Number, text)
	}
	return nil
}

// textAt returns a scalar at the place of a variable.
func textAt(at *value, kind jsontree.Kind, text string) *value {
	var w writer
	w.put(text, at.origin())
	made := compose(at, w.text(at.in.file))
	made.kind = kind
	return made
}
