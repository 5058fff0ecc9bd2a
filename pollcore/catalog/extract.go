package catalog

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
)

// Extract is [Catalog.Resolve] for a program that needs one entry at once, such as a
// Lambda function that starts: it reads no index, and of the service's file no more
// than the entry needs. So the entry's Service has only the operations that the entry
// calls, and their shapes. What it does not find so, it leaves to Resolve.
func (c *Catalog) Extract(name string) (*Named, error) {
	key, entry, _ := strings.Cut(name, ":")
	if key == "" || path.Base(key) != key || key+".json" == IndexFile {
		return c.Resolve(name)
	}
	text, err := c.text(key + ".json")
	if err != nil {
		return c.Resolve(name)
	}
	e, err := extract(text, key, entry)
	if err != nil {
		return c.Resolve(name) // which says what is wrong
	}
	return e.resolve(name)
}

// errNotExtracted stands for a file that is not written as the importer does it, or
// that lacks something.
var errNotExtracted = errors.New("the file must be read whole")

// parts are the lines of a section of a service's file, such as its shapes: a part
// each, sorted by name.
type parts struct {
	names, values []string
}

func (p *parts) find(name string) (text string, found bool) {
	i, found := slices.BinarySearch(p.names, name)
	if !found {
		return "", false
	}
	return p.values[i], true
}

// read decodes a part.
func (p *parts) read(name string, into any) error {
	text, found := p.find(name)
	if !found {
		return errNotExtracted
	}
	return json.Unmarshal([]byte(text), into)
}

// sections cuts a service's file into its head, the members that are values, and
// its sections. The importer writes each of them, and each part, on a line.
func sections(text string) (head string, all map[string]*parts, err error) {
	all = map[string]*parts{}
	var top strings.Builder
	var open *parts
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "{", line == "}":
		case line == " }", line == " },":
			open = nil
		case strings.HasPrefix(line, `  "`) && open != nil:
			name, value, found := strings.Cut(line[len(`  "`):], `": `)
			if n := len(open.names); !found || n > 0 && open.names[n-1] >= name {
				return "", nil, errNotExtracted
			}
			open.names = append(open.names, name)
			open.values = append(open.values, strings.TrimSuffix(value, ","))
		case strings.HasPrefix(line, ` "`) && strings.HasSuffix(line, `": {`) && open == nil:
			open = &parts{}
			all[strings.TrimSuffix(line[len(` "`):], `": {`)] = open
		case strings.HasPrefix(line, ` "`) && open == nil:
			top.WriteString(strings.TrimSuffix(line, ",") + ",")
		default:
			return "", nil, errNotExtracted
		}
	}
	return "{" + strings.TrimSuffix(top.String(), ",") + "}", all, nil
}

// extract reads one entry out of a service's file.
func extract(text []byte, key, name string) (*Entry, error) {
	head, all, err := sections(string(text))
	if err != nil {
		return nil, err
	}
	s := &Service{}
	if err := json.Unmarshal([]byte(head), s); err != nil {
		return nil, err
	}
	for _, section := range []string{"operations", "shapes", "waiters", "jobs"} {
		if all[section] == nil {
			all[section] = &parts{}
		}
	}
	if s.Key != key || s.Operations != nil || s.Shapes != nil || s.Waiters != nil || s.Jobs != nil {
		return nil, errNotExtracted
	}
	s.Operations, s.Shapes = map[string]*Operation{}, map[string]*Shape{}
	listed, calls, err := s.extractEntry(all, name)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(calls); i++ {
		operation, o := calls[i], &Operation{}
		if err := all["operations"].read(operation, o); err != nil {
			return nil, err
		}
		s.Operations[operation] = o
		if o.Discovered && !slices.Contains(calls, EndpointOperation) {
			calls = append(calls, EndpointOperation)
		}
		if err := errors.Join(s.extractShape(all["shapes"], o.InputShape), s.extractShape(all["shapes"], o.OutputShape)); err != nil {
			return nil, err
		}
	}
	if err := s.Link(); err != nil {
		return nil, err
	}
	return s.entry(listed)
}

// extractEntry reads the waiter or the job, and returns the operations that it calls.
func (s *Service) extractEntry(all map[string]*parts, name string) (l Listed, calls []string, err error) {
	if _, found := all["waiters"].find(name); found {
		w := &WaiterData{}
		s.Waiters = map[string]*WaiterData{name: w}
		err := all["waiters"].read(name, w)
		return Listed{Name: name, Kind: AWSWaiter, Waiter: name, Operation: w.Operation}, []string{w.Operation}, err
	}
	j := &Job{}
	if err := all["jobs"].read(name, j); err != nil {
		return l, nil, err
	}
	s.Jobs = map[string]*Job{name: j}
	calls = []string{name, j.Describe}
	if j.Stop != nil {
		calls = append(calls, j.Stop.Operation)
	}
	if j.Precondition != nil {
		calls = append(calls, j.Precondition.Operation)
	}
	if j.Batch != nil {
		calls = append(calls, j.Batch.Operation)
	}
	return Listed{Name: name, Kind: AWSJob, Waiter: j.Waiter, Operation: j.Describe}, calls, nil
}

// extractShape reads a shape, and those that it is made of.
func (s *Service) extractShape(shapes *parts, name string) error {
	if name == "" || s.Shapes[name] != nil || simple[ShapeType(name)] != nil {
		return nil
	}
	text, found := shapes.find(name)
	if !found {
		return errNotExtracted
	}
	shape, ok := scanShape(text)
	if !ok {
		shape = &Shape{}
		if err := json.Unmarshal([]byte(text), shape); err != nil {
			return err
		}
	}
	s.Shapes[name] = shape
	for i := range shape.Members {
		if err := s.extractShape(shapes, shape.Members[i].Target); err != nil {
			return err
		}
	}
	if shape.Element != nil {
		return s.extractShape(shapes, shape.Element.Target)
	}
	return nil
}
