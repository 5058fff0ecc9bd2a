package asl

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func (p *parser) parallel(o *object) *Parallel {
	s := &Parallel{}
	for _, n := range o.list("Branches", true) {
		if b := p.open(n, "a branch"); b != nil {
			s.Branches = append(s.Branches, p.innerFlow(b, false))
			b.close()
		}
	}
	return s
}

// innerFlow reads the states inside of a Parallel or Map. Its variables are
// its own; those of the flow around it are visible unless it is isolated.
func (p *parser) innerFlow(o *object, isolated bool) *Flow {
	o.text("Comment")
	outer := p.scope
	p.scope = newScope(outer)
	p.scope.isolated = isolated
	f := &Flow{}
	p.flow(o, f)
	p.scope = outer
	return f
}

func (p *parser) mapping(o *object) *Map {
	m := &Map{}
	processor := "ItemProcessor"
	if m.Legacy = o.has("Iterator"); m.Legacy {
		o.exclusive("ItemProcessor", "Iterator")
		processor = "Iterator"
	}
	o.require(processor)
	p.items(o, m)
	m.MaxConcurrency = o.whole("MaxConcurrency", 0, MaxSeconds)
	m.ToleratedFailureCount = o.whole("ToleratedFailureCount", 0, MaxItems)
	m.ToleratedFailurePercentage = o.percentage("ToleratedFailurePercentage")
	if m.Label = o.text("Label"); utf8.RuneCountInString(m.Label) > maxLabel || strings.ContainsFunc(m.Label, notInLabel) {
		p.add(o.get("Label").Problem("\"Label\" has at most %d characters, without white space, control characters and any of %s", maxLabel, forbiddenInLabel))
	}
	if inner := o.inner(processor, "an item processor"); inner != nil {
		p.processorConfig(inner, m)
		m.Processor = p.innerFlow(inner, m.Distributed)
		inner.close()
	} else {
		m.Processor = &Flow{}
	}
	m.ItemReader = p.itemReader(o)
	m.ItemBatcher = p.itemBatcher(o)
	m.ResultWriter = p.resultWriter(o)
	if !m.Distributed {
		for _, name := range distributedFields {
			if n := o.node.Get(name); n != nil {
				p.add(n.Problem("%q needs a distributed Map: \"ProcessorConfig\": {\"Mode\": \"DISTRIBUTED\"} in \"ItemProcessor\"", name))
			}
		}
	}
	return m
}

// A label is part of ARNs; the rule is that of the developer guide.
const (
	maxLabel         = 40
	forbiddenInLabel = "?*<>{}[]:;,\\|^~$#%&`\""
)

func notInLabel(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(forbiddenInLabel, r)
}

// distributedFields are the fields of a distributed Map only.
var distributedFields = []string{"ItemReader", "ItemBatcher", "ResultWriter", "Label"}

// MaxItems is the largest number of items that a definition may speak of.
const MaxItems = 100_000_000

// items reads what a Map goes through.
func (p *parser) items(o *object, m *Map) {
	if p.language == JSONata {
		m.Items = o.items()
		m.ItemSelector = o.template("ItemSelector")
		return
	}
	m.ItemsPath = o.path("ItemsPath", anyPath)
	m.ItemSelector = o.template("ItemSelector")
	if old := o.template("Parameters"); old != nil {
		o.exclusive("ItemSelector", "Parameters")
		m.ItemSelector = old
	}
}

// items reads the field Items: an array, or an expression for one.
func (o *object) items() *Template {
	n := o.get("Items")
	if n == nil {
		return nil
	}
	if n.Kind != jsontree.Array && !isExpression(n) && !o.p.placeholder(n, true) {
		o.p.add(n.Problem("\"Items\" has to be an array or a JSONata expression in \"{%% %%}\", found %s", n.Describe()))
		return nil
	}
	return o.template("Items")
}

func (p *parser) processorConfig(o *object, m *Map) {
	config := o.inner("ProcessorConfig", "a processor's configuration")
	if config == nil {
		return
	}
	mode := config.word("Mode", "INLINE", "DISTRIBUTED")
	m.Distributed = mode == "DISTRIBUTED"
	m.ExecutionType = ExecutionType(config.word("ExecutionType", string(Standard), string(Express)))
	switch {
	case m.Distributed && !config.has("ExecutionType"):
		p.add(config.node.Problem("a distributed Map needs \"ExecutionType\": \"STANDARD\" or \"EXPRESS\""))
	case !m.Distributed && config.has("ExecutionType"):
		p.add(config.node.Problem("\"ExecutionType\" needs \"Mode\": \"DISTRIBUTED\""))
	}
	config.close()
}

func (p *parser) itemBatcher(o *object) *ItemBatcher {
	b := o.inner("ItemBatcher", "an item batcher")
	if b == nil {
		return nil
	}
	batcher := &ItemBatcher{
		MaxItemsPerBatch:      b.whole("MaxItemsPerBatch", 1, MaxItems),
		MaxInputBytesPerBatch: b.whole("MaxInputBytesPerBatch", 1, maxBatchBytes),
		BatchInput:            b.template("BatchInput"),
	}
	if batcher.MaxItemsPerBatch == nil && batcher.MaxInputBytesPerBatch == nil {
		p.add(b.node.Problem("an item batcher needs \"MaxItemsPerBatch\" or \"MaxInputBytesPerBatch\""))
	}
	b.close()
	return batcher
}

// maxBatchBytes is the largest MaxInputBytesPerBatch: the payload limit.
const maxBatchBytes = 262_144

func (p *parser) itemReader(o *object) *ItemReader {
	in := o.inner("ItemReader", "an item reader")
	if in == nil {
		return nil
	}
	r := &ItemReader{}
	r.Resource, r.ResourcePosition = in.resource()
	r.Parameters = in.template(p.arguments())
	if c := in.inner("ReaderConfig", "an item reader's configuration"); c != nil {
		r.Config = ReaderConfig{
			InputType:         c.word("InputType", "CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"),
			CSVHeaderLocation: c.word("CSVHeaderLocation", "FIRST_ROW", "GIVEN"),
			CSVDelimiter:      c.word("CSVDelimiter", "COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"),
			ManifestType:      c.word("ManifestType", "ATHENA_DATA", "S3_INVENTORY"),
			Transformation:    c.word("Transformation", "NONE", "LOAD_AND_FLATTEN"),
			ItemsPointer:      c.text("ItemsPointer"),
			MaxItems:          c.whole("MaxItems", 0, MaxItems),
		}
		for _, n := range c.list("CSVHeaders", false) {
			r.Config.CSVHeaders = append(r.Config.CSVHeaders, n.Text)
		}
		c.close()
	}
	in.close()
	return r
}

// arguments is the name of the field that says what a resource is called with.
func (p *parser) arguments() string {
	if p.language == JSONata {
		return "Arguments"
	}
	return "Parameters"
}

func (p *parser) resultWriter(o *object) *ResultWriter {
	in := o.inner("ResultWriter", "a result writer")
	if in == nil {
		return nil
	}
	w := &ResultWriter{}
	if in.has("Resource") {
		w.Resource, w.ResourcePosition = in.resource()
	}
	w.Parameters = in.template(p.arguments())
	if c := in.inner("WriterConfig", "a result writer's configuration"); c != nil {
		w.Transformation = c.word("Transformation", "NONE", "COMPACT", "FLATTEN")
		w.OutputType = c.word("OutputType", "JSON", "JSONL")
		c.close()
	}
	in.close()
	return w
}
