package asl

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func (p *parser) parallel(o *object) *Parallel {
	s := &Parallel{}
	if n := o.get("Branches"); n != nil && p.leaveHollow(n, "the branches") {
		return s
	}
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
	p.readFlow(o, f)
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
	m.MaxConcurrency = o.count("MaxConcurrency", math.MaxInt32)
	m.ToleratedFailureCount = o.count("ToleratedFailureCount", math.MaxInt32)
	m.ToleratedFailurePercentage = o.percentage("ToleratedFailurePercentage")
	m.Label = p.label(o)
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
	if !m.Distributed && p.hollow == nil {
		for _, name := range distributedFields {
			if n := o.node.Get(name); n != nil {
				p.warn(n.Problem("%q is for a distributed Map: \"ProcessorConfig\": {\"Mode\": \"DISTRIBUTED\"} in \"ItemProcessor\"", name))
			}
		}
	}
	return m
}

// A label is part of ARNs; the rule is that of the developer guide.
const forbiddenInLabel = "?*<>{}[]:;,\\|^~$#%&`\""

// label reads the field Label.
func (p *parser) label(o *object) string {
	label := o.text("Label")
	switch n := o.get("Label"); {
	case label == "", HasPlaceholder(label):
	case utf8.RuneCountInString(label) > maxLabelLength || strings.ContainsFunc(label, notInLabel):
		p.add(n.Problem("\"Label\" has at most %d characters, without white space, control characters and any of %s", maxLabelLength, forbiddenInLabel))
	case p.labels[label]:
		p.add(n.Problem("there is another Map with the label %q; labels are unique in the whole state machine", label))
	default:
		p.labels[label] = true
	}
	return label
}

func notInLabel(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(forbiddenInLabel, r)
}

// distributedFields are the fields of a distributed Map only.
var distributedFields = []string{"ItemReader", "ItemBatcher", "ResultWriter", "Label"}

// maxItems is the largest number of items that a definition may speak of.
const maxItems = 100_000_000

// items reads what a Map goes through.
func (p *parser) items(o *object, m *Map) {
	if p.language == JSONata {
		m.Items = o.items()
		m.ItemSelector = o.template("ItemSelector")
		return
	}
	m.ItemsPath = o.path("ItemsPath", itemsPath)
	m.ItemSelector = o.template("ItemSelector")
	if old := o.template("Parameters"); m.ItemSelector == nil {
		m.ItemSelector = old
	} else if old != nil {
		p.warn(o.get("Parameters").Problem("\"ItemSelector\" hides \"Parameters\", its old name; keep one"))
	}
}

// items reads the field Items: an array, or an expression for one.
func (o *object) items() *Template {
	n := o.get("Items")
	if n == nil {
		return nil
	}
	if n.Kind != jsontree.Array && !isExpression(n) && !o.p.placeholder(n, true) {
		o.p.add(n.Problem("\"Items\" must be an array or a JSONata expression in \"{%% %%}\", found %s", n.Describe()))
		return nil
	}
	return o.template("Items")
}

func (p *parser) processorConfig(o *object, m *Map) {
	config := o.inner("ProcessorConfig", "a processor's configuration")
	if config == nil {
		return
	}
	if n := config.get("Mode"); n != nil && p.leaveHollow(n, "the mode of a Map") {
		return
	}
	mode := config.word("Mode", "INLINE", "DISTRIBUTED")
	m.Distributed = mode == "DISTRIBUTED"
	m.ExecutionType = ExecutionType(config.word("ExecutionType", string(Standard), string(Express)))
	switch {
	case m.Distributed && !config.has("ExecutionType"):
		p.add(config.node.Problem("a distributed Map needs \"ExecutionType\": \"STANDARD\" or \"EXPRESS\""))
	case mode == "INLINE" && config.has("ExecutionType"):
		p.add(config.get("ExecutionType").Problem("\"ExecutionType\" needs \"Mode\": \"DISTRIBUTED\""))
	case !m.Distributed && config.has("ExecutionType"):
		p.warn(config.get("ExecutionType").Problem("\"ExecutionType\" needs \"Mode\": \"DISTRIBUTED\""))
	}
	config.close()
}

func (p *parser) itemBatcher(o *object) *ItemBatcher {
	b := o.inner("ItemBatcher", "an item batcher")
	if b == nil {
		return nil
	}
	batcher := &ItemBatcher{
		MaxItemsPerBatch:      b.count("MaxItemsPerBatch", math.MaxInt32),
		MaxInputBytesPerBatch: b.count("MaxInputBytesPerBatch", MaxPayloadBytes),
		BatchInput:            b.template("BatchInput"),
	}
	if batcher.MaxItemsPerBatch == nil && batcher.MaxInputBytesPerBatch == nil {
		p.add(b.node.Problem("an item batcher needs \"MaxItemsPerBatch\" or \"MaxInputBytesPerBatch\""))
	}
	b.close()
	return batcher
}

func (p *parser) itemReader(o *object) *ItemReader {
	in := o.inner("ItemReader", "an item reader")
	if in == nil {
		return nil
	}
	r := &ItemReader{}
	r.Resource, r.ResourcePosition = in.resourceOf("s3:getObject", "s3:listObjectsV2")
	r.Parameters = in.template(p.arguments())
	if c := in.inner("ReaderConfig", "an item reader's configuration"); c != nil {
		r.Config = ReaderConfig{
			InputType:         c.word("InputType", "CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"),
			CSVHeaderLocation: c.word("CSVHeaderLocation", "FIRST_ROW", "GIVEN"),
			CSVDelimiter:      c.word("CSVDelimiter", "COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"),
			ManifestType:      c.word("ManifestType", "ATHENA_DATA", "S3_INVENTORY"),
			Transformation:    c.word("Transformation", "NONE", "LOAD_AND_FLATTEN"),
			ItemsPointer:      c.text("ItemsPointer"),
			MaxItems:          c.count("MaxItems", maxItems),
		}
		if headers := c.ofKind("CSVHeaders", jsontree.Array); headers != nil {
			for _, n := range headers.Items {
				r.Config.CSVHeaders = append(r.Config.CSVHeaders, n.Text)
			}
		}
		p.checkCSV(c, r.Config)
		c.close()
	}
	in.close()
	return r
}

// checkCSV reports what is missing or too much about the header of a CSV file.
func (p *parser) checkCSV(o *object, c ReaderConfig) {
	switch {
	case c.InputType == "CSV" && !o.has("CSVHeaderLocation"):
		p.add(o.node.Problem("an item reader of CSV needs \"CSVHeaderLocation\": \"FIRST_ROW\" or \"GIVEN\""))
	case c.InputType == "JSON" && o.has("CSVHeaderLocation"):
		p.add(o.get("CSVHeaderLocation").Problem("\"CSVHeaderLocation\" is only for CSV, and this item reader reads JSON"))
	}
	if c.CSVHeaderLocation == "GIVEN" && !o.has("CSVHeaders") {
		p.add(o.node.Problem("\"CSVHeaderLocation\": \"GIVEN\" needs \"CSVHeaders\", the names of the columns"))
	}
}

func (p *parser) resultWriter(o *object) *ResultWriter {
	in := o.inner("ResultWriter", "a result writer")
	if in == nil {
		return nil
	}
	w := &ResultWriter{}
	if in.has("Resource") {
		w.Resource, w.ResourcePosition = in.resourceOf("s3:putObject")
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
