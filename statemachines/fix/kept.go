package fix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// keptValue is a value of a loop that the template gives, by a function such as Ref
// or a placeholder. It comes into the new loop as it is written.
type keptValue struct {
	written string // in the file
	column  int    // where that begins in its line
	value   string // in JSON, as far as it is known
}

// keptName is what the names begin with that stand for such values while a loop is
// compiled. They are exitNames, for which any value is taken.
const keptName = "${jobpoller.kept."

// keptParts are the parts of a poll whose values come into the new loop.
var keptParts = []string{"Comment", "Resource", "Arguments", "Parameters", "ResultSelector", "Output", "Assign", "Catch", "Credentials"}

// keeper finds the values of a loop that the template gives.
type keeper struct {
	document *document
	resource *jsontree.Node // of the poll
	kept     map[string]keptValue
	changes  []change
}

// keepValues returns the text of the definition with names for what the template
// gives of a poll and of the other Tasks that go, and the values by these names. The
// poll is the first of the Tasks.
func keepValues(d *document, tasks, comments []*asl.State) ([]byte, map[string]keptValue, error) {
	k := &keeper{document: d, kept: map[string]keptValue{}}
	for i, s := range tasks {
		node := nodeAt(d.root, s.Position.Pointer)
		if i == 0 {
			k.resource = node.Get("Resource")
		}
		for _, m := range node.Members {
			if !slices.Contains(keptParts, m.Name) {
				continue
			}
			if p, _ := d.Place(m.Value.Pointer()); !p.Literal && i > 0 && m.Name == "Resource" {
				return nil, nil, refuse("a function of the template gives the Resource of %q", s.Name)
			}
			if err := k.value(m); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, s := range comments {
		if n := nodeAt(d.root, s.Position.Pointer).Get("Comment"); n != nil && s != tasks[0] {
			if err := k.value(jsontree.Member{Name: "Comment", Value: n}); err != nil {
				return nil, nil, err
			}
		}
	}
	return apply(d.Text, 0, k.changes), k.kept, nil
}

func (k *keeper) value(m jsontree.Member) error {
	n := m.Value
	p, err := k.document.place(n.Pointer())
	if err != nil {
		return err
	}
	if p.Literal {
		for _, inner := range n.Members {
			if err := k.value(inner); err != nil {
				return err
			}
		}
		for _, item := range n.Items {
			if err := k.value(jsontree.Member{Value: item}); err != nil {
				return err
			}
		}
		return nil
	}
	reads := strings.HasSuffix(m.Name, ".$") || strings.HasSuffix(m.Name, "Path") || strings.HasPrefix(n.Text, "{%")
	if n == k.resource { // it names what is polled, and stays
		k.kept[keptResource] = k.document.keep(n, p.From, p.To)
		return nil
	}
	if n.Kind >= jsontree.Array || reads || m.Name == "Next" || strings.Contains(n.Pointer(), "/ErrorEquals/") {
		return refuse("a function of the template gives %s, which the new loop reads", n.Pointer())
	}
	name := fmt.Sprintf("%s%d}", keptName, len(k.kept))
	k.kept[name] = k.document.keep(n, p.From, p.To)
	k.changes = append(k.changes, change{n.Offset, n.End, quote(name)})
	return nil
}

// keep is the value that stands at bytes of the file.
func (d *document) keep(n *jsontree.Node, from, to int) keptValue {
	line := bytes.LastIndexByte(d.file[:from], '\n') + 1
	return keptValue{written: string(d.file[from:to]), column: from - line, value: string(n.Raw())}
}

// keptResource stands for the Resource of the poll.
const keptResource = keptName + "resource}"

// keepResource writes the Resource of the poll as it was, if a compiled loop can poll
// with it: it may be in another partition, or have parts that the template gives.
func (f *fragment) keepResource() {
	if !f.own && !strings.Contains(f.poll.Task.Resource, ":aws-sdk:") {
		return
	}
	resource := f.poll.Task.Resource
	if _, kept := f.kept[keptResource]; kept {
		resource = keptResource
	}
	f.states[f.poll.Name]["Resource"] = resource
}

// restoreJSON writes the kept values in a text of JSON.
func (f *fragment) restoreJSON(text string, value func(keptValue) string) string {
	for name, v := range f.kept {
		text = strings.ReplaceAll(text, quote(name), value(v))
	}
	return text
}

// toFile is the value as it stands in the file.
func (v keptValue) toFile() string { return v.written }

// toJSON is the value in JSON, as far as it is known.
func (v keptValue) toJSON() string { return v.value }

// inYAML is the value for a line of YAML that is indented by so much: behind the
// name of its member, or on lines of its own.
func (v keptValue) inYAML(indent int) string {
	lines := strings.Split(strings.ReplaceAll(v.written, "\r\n", "\n"), "\n")
	least := -1 // indentation of the lines behind the first
	for _, line := range lines[1:] {
		if body := strings.TrimLeft(line, " "); body != "" && (least < 0 || len(line)-len(body) < least) {
			least = len(line) - len(body)
		}
	}
	block := isBlockMapping(lines[0])
	if block {
		lines[0] = strings.Repeat(" ", v.column) + lines[0]
		lines, least = append([]string{""}, lines...), v.column
	}
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) != "" {
			lines[i+1] = strings.Repeat(" ", indent) + line[min(least, len(line)):]
		}
	}
	return strings.Join(lines, "\n")
}

// isBlockMapping tells whether a value of YAML begins with the name of a member: of
// a function in its long form.
func isBlockMapping(line string) bool {
	name, _, found := strings.Cut(line, ":")
	return found && (name == "Ref" || strings.HasPrefix(name, "Fn::") || strings.HasPrefix(line, "Fn::"))
}
