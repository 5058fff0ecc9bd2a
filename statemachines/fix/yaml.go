package fix

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/jsontree/toyaml"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// yamlEdit writes a fragment into a file of YAML, line by line.
type yamlEdit struct {
	*fragment

	document *document
	printed  map[string]string
	comments []source.Place
}

func (e *yamlEdit) changes() ([]change, error) {
	var all []change
	targets, err := e.document.targets(e.fragment)
	if err != nil {
		return nil, err
	}
	for _, p := range targets {
		text, err := yaml.Marshal(e.start)
		if err != nil {
			return nil, err
		}
		all = append(all, change{p.From, p.To, strings.TrimSpace(string(text))})
	}
	unit := e.unit()
	e.comments = e.document.CommentPlaces()
	for i, s := range e.loop.states {
		p, err := e.lines(s)
		if err != nil {
			return nil, err
		}
		before, after := e.around()
		if i > 0 {
			before = nil
		}
		if i < len(e.loop.states)-1 {
			after = nil
		}
		text, err := e.replace(s, p, unit, before, after)
		if err != nil {
			return nil, err
		}
		all = append(all, change{p.from, p.to, text})
	}
	return all, nil
}

// stateLines is where a state stands: whole lines.
type stateLines struct {
	from, to int
	margin   string // before its name
	head     string // the line of its name
}

// lines finds the lines of a state.
func (e *yamlEdit) lines(s *asl.State) (stateLines, error) {
	p, err := e.document.place(s.Position.Pointer)
	if err != nil {
		return stateLines{}, err
	}
	file := e.document.file
	out := stateLines{from: bytes.LastIndexByte(file[:p.Name], '\n') + 1, to: len(file)}
	out.margin = string(file[out.from:p.Name])
	if strings.TrimSpace(out.margin) != "" || !p.Literal { // an alias stands elsewhere
		return out, refuse("the state %q does not begin a line of its own", s.Name)
	}
	if i := bytes.IndexByte(file[p.To:], '\n'); i >= 0 {
		out.to = p.To + i + 1
	}
	if rest := bytes.TrimSpace(file[p.To:out.to]); len(rest) > 0 && rest[0] != '#' {
		return out, refuse("the state %q does not end a line", s.Name)
	}
	if i := bytes.IndexByte(file[p.Name:p.From], '\n'); i >= 0 {
		out.head = string(file[out.from : p.Name+i+1]) // with its comment
	} else {
		out.head = strings.TrimRight(string(file[out.from:p.From]), " ") + "\n"
	}
	for out.from > 0 { // its comments
		above := bytes.LastIndexByte(file[:out.from-1], '\n') + 1
		if !strings.HasPrefix(string(file[above:out.from]), out.margin+"#") {
			break
		}
		out.from = above
	}
	return out, nil
}

// unit is how far the fields of a state are indented.
func (e *yamlEdit) unit() int {
	const usual, most = 2, 8
	for _, s := range e.flow.States {
		p, ok := e.document.Place(s.Position.Pointer)
		if !ok || p.Name < 0 || e.document.file[p.From] == '{' {
			continue
		}
		column := func(at int) int { return at - bytes.LastIndexByte(e.document.file[:at], '\n') }
		if unit := column(p.From) - column(p.Name); unit >= usual && unit <= most {
			return unit
		}
	}
	return usual
}

// replace writes what takes the place of a state. Comments of the old text that the new one does not have stand in front of it.
func (e *yamlEdit) replace(s *asl.State, p stateLines, unit int, before, after []string) (string, error) {
	blocks := func(names []string) (string, error) {
		var b strings.Builder
		for _, name := range names {
			text, err := e.block(name, p.margin, unit)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
		return b.String(), nil
	}
	first, err := blocks(before)
	if err != nil {
		return "", err
	}
	last, err := blocks(after)
	if err != nil || e.printed[s.Name] == "" {
		return first + e.commentsWithout(p, first+last) + last, err
	}
	own, err := e.block(s.Name, p.margin, unit)
	if err != nil {
		return "", err
	}
	own = p.head + own[strings.IndexByte(own, '\n')+1:] // the name stays as it is written, and a comment behind it
	return first + e.commentsWithout(p, first+own+last) + own + last, nil
}

// commentsWithout are the comments of a state's lines that a text does not have, as lines.
func (e *yamlEdit) commentsWithout(p stateLines, text string) string {
	var b strings.Builder
	for _, c := range e.comments {
		comment := strings.TrimRight(string(e.document.file[c.From:c.To]), "\r\n ")
		if c.From >= p.from && c.From < p.to && !strings.Contains(text, comment+"\n") {
			b.WriteString(p.margin + comment + "\n")
		}
	}
	return b.String()
}

var keptLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^( *)(?:- )*(?:.*: |- )?(\$\{jobpoller\.kept\.\w+\})$`)
})

// block writes a state as YAML, behind a margin.
func (e *yamlEdit) block(name, margin string, unit int) (string, error) {
	document, err := jsontree.Parse([]byte(e.printed[name]))
	if err != nil {
		return "", err
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{toyaml.Name(name), toyaml.Node(document.Root)}}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(unit)
	if err := encoder.Encode(root); err != nil {
		return "", err
	}
	if err := encoder.Close(); err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		line = margin + strings.TrimSuffix(line, "\n")
		if found := keptLine().FindStringSubmatch(line); found != nil {
			value := e.kept[found[2]].inYAML(len(found[1]) + unit)
			line = strings.TrimSuffix(line, found[2])
			if strings.HasPrefix(value, "\n") {
				line = strings.TrimRight(line, " ")
			}
			line += value
		}
		out.WriteString(line + "\n")
	}
	return out.String(), nil
}
