package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runMap does what a Map state does.
func (s *strand) runMap() *failure {
	m := s.state.Map
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	d := data{input: input}
	if m.ItemReader != nil {
		return s.mapReader(d)
	}
	items, f := s.items(d)
	if f != nil {
		return f
	}
	return s.mapItems(items, d)
}

// mapItems goes through the items.
func (s *strand) mapItems(items []any, d data) *failure {
	m := s.state.Map
	c := &composite{owner: s, iterates: !m.Distributed}
	if f := s.concurrency(c, d); f != nil {
		return f
	}
	length := len(items)
	s.record(MapStateStarted, Details{Length: &length})
	if !s.alive() {
		return nil
	}
	if f := s.tolerance(c, d); f != nil {
		return f
	}
	c.items = length
	if s.probe != nil {
		return s.probe.mockMap(s, c, items, d)
	}
	if !m.Distributed {
		for i, item := range items {
			c.branches = append(c.branches, &branch{index: i, flow: m.Processor, items: 1, input: func() (*Payload, *failure) { return s.itemInput(i, item, d) }})
		}
		return c.begin()
	}
	batches, f := s.batches(items, d)
	if f != nil {
		return f
	}
	run := s.newMapRun(c)
	c.mapRun = run
	s.record(MapRunStarted, Details{MapRunArn: run.arn})
	return c.beginBatches(run, batches)
}

// mapReader reads the items and goes through them.
func (s *strand) mapReader(d data) *failure {
	if s.probe != nil {
		return s.readItems(d, nil, func(items []any) *failure { return s.mapItems(items, d) })
	}
	c, f := s.beginReading(d)
	if f != nil || !s.alive() {
		return f
	}
	return s.readItems(d, c, func(items []any) *failure { return s.mapRead(c, items, d) })
}

// beginReading records that the Map and its run have started, as AWS does before it reads.
func (s *strand) beginReading(d data) (*composite, *failure) {
	c := &composite{owner: s}
	if f := s.concurrency(c, d); f != nil {
		return nil, f
	}
	none := 0
	s.record(MapStateStarted, Details{Length: &none})
	if !s.alive() {
		return nil, nil
	}
	if f := s.tolerance(c, d); f != nil {
		return nil, f
	}
	run := s.newMapRun(c)
	c.mapRun, c.last = run, s.last
	s.record(MapRunStarted, Details{MapRunArn: run.arn})
	c.last = s.last
	return c, nil
}

// mapRead goes through items that were read.
func (s *strand) mapRead(c *composite, items []any, d data) *failure {
	c.items = len(items)
	batches, f := s.batches(items, d)
	if f != nil {
		return f
	}
	run, _ := c.mapRun.(*mapRun)
	return c.beginBatches(run, batches)
}

// beginBatches starts the child executions that may run.
func (c *composite) beginBatches(run *mapRun, batches []batch) *failure {
	for i, batch := range batches {
		c.branches = append(c.branches, &branch{index: i, flow: c.owner.state.Map.Processor, items: batch.items, input: batch.input})
	}
	run.fill(len(batches))
	return c.begin()
}

// items is what the Map goes through.
func (s *strand) items(d data) ([]any, *failure) {
	m := s.state.Map
	if !s.jsonata() {
		value, f := s.readPath("ItemsPath", m.ItemsPath, d.input)
		if f != nil {
			return nil, f
		}
		items, ok := value.([]any)
		if !ok {
			path := m.ItemsPath.String()
			if m.ItemsPath.Context() {
				path = path[1:]
			}
			return nil, &failure{name: errorRuntime, cause: fmt.Sprintf("Reference path %q must point to array.", path)}
		}
		s.inspect("afterItemsPath", newPayload(items))
		return items, nil
	}
	if m.Items == nil {
		items, ok := d.input.Value().([]any)
		if !ok {
			return nil, s.evaluationFailure("", "Map state input must be an array but was: %s", d.input.JSON())
		}
		return items, nil
	}
	value, f := s.evaluateTemplate(m.Items, "Items", "Items", d, newRoom())
	if f != nil {
		return nil, f
	}
	items, ok := value.([]any)
	if !ok {
		return nil, s.typeFailure(&asl.Scalar{Field: "Items", Expression: m.Items.Expression}, "array", value, d)
	}
	return items, nil
}

// concurrency sets how many branches run at the same time.
func (s *strand) concurrency(c *composite, d data) *failure {
	limit, f := s.whole(s.state.Map.MaxConcurrency, d)
	if f != nil {
		return f
	}
	s.inspect("maxConcurrency", newPayload(json.Number(strconv.FormatInt(limit, 10))))
	c.limit = int(limit)
	c.limitConcurrency(limit, s.state.Map.Distributed)
	return nil
}

// limitConcurrency sets how many branches run at the same time; 0: as many as AWS lets.
func (c *composite) limitConcurrency(limit int64, distributed bool) {
	most := int64(asl.MaxMapConcurrency)
	if distributed {
		most = asl.MaxMapRunConcurrency
	}
	if limit == 0 || limit > most {
		limit = most
	}
	c.concurrency = int(limit)
}

// tolerance sets how many of the items may fail.
func (s *strand) tolerance(c *composite, d data) *failure {
	m := s.state.Map
	count, f := s.whole(m.ToleratedFailureCount, d)
	if f != nil {
		return f
	}
	share, f := s.percentage(m.ToleratedFailurePercentage, d)
	if f != nil {
		return f
	}
	if m.ToleratedFailureCount != nil {
		s.inspect("toleratedFailureCount", newPayload(json.Number(strconv.FormatInt(count, 10))))
	}
	if m.ToleratedFailurePercentage != nil {
		s.inspect("toleratedFailurePercentage", newPayload(json.Number(strconv.FormatFloat(share, 'f', -1, 64))))
	}
	if m.Distributed && (m.ToleratedFailureCount != nil || m.ToleratedFailurePercentage != nil) {
		c.tolerance = &tolerance{}
		if m.ToleratedFailureCount != nil {
			c.tolerance.count = &count
		}
		if m.ToleratedFailurePercentage != nil {
			c.tolerance.share = &share
		}
	}
	return nil
}

// itemInput is the input of the iteration for an item.
func (s *strand) itemInput(i int, item any, d data) (*Payload, *failure) {
	t := s.state.Map.ItemSelector
	if t == nil {
		return newPayload(item), nil
	}
	around := s.item
	s.item = itemContext(i, item)
	defer func() { s.item = around }()
	value, f := s.evaluateTemplate(t, "ItemSelector", "ItemSelector", d, newRoom())
	if f != nil {
		return nil, f
	}
	return newPayload(value), nil
}

// itemContext is what the context object says of an item.
func itemContext(i int, item any) map[string]any {
	return map[string]any{"Index": json.Number(strconv.Itoa(i)), "Value": item}
}

// batch is what one child execution of a distributed Map works on.
type batch struct {
	items int
	input func() (*Payload, *failure)
}

// batches are what the child executions of a distributed Map work on.
func (s *strand) batches(items []any, d data) ([]batch, *failure) {
	var batches []batch
	batcher := s.state.Map.ItemBatcher
	if batcher == nil {
		for i, item := range items {
			batches = append(batches, batch{1, func() (*Payload, *failure) { return s.itemInput(i, item, d) }})
		}
		return batches, nil
	}
	most, f := s.whole(batcher.MaxItemsPerBatch, d)
	if f != nil {
		return nil, f
	}
	bytes, f := s.whole(batcher.MaxInputBytesPerBatch, d)
	if f != nil {
		return nil, f
	}
	common, f := s.applyTemplate("BatchInput", batcher.BatchInput, d, nil)
	if f != nil {
		return nil, f
	}
	frame := map[string]any{}
	if common != nil {
		frame["BatchInput"] = common.Value()
	}
	empty := jsonSize(frame) + len(`"Items":[],`)
	var in []any
	size := empty
	flush := func() {
		full := maps.Clone(frame)
		full["Items"] = in
		batches = append(batches, batch{len(in), func() (*Payload, *failure) { return newPayload(full), nil }})
		in, size = nil, empty
	}
	for i, item := range items {
		input, f := s.itemInput(i, item, d)
		if f != nil {
			return nil, f
		}
		if err := s.x.run.options.budget.spend(1, input.bytes()); err != nil {
			s.x.run.fail(err)
			return nil, sizeFailure(s.state.Name, false)
		}
		grown := size + input.bytes() + len(",")
		if len(in) > 0 && (most > 0 && int64(len(in)) == most || bytes > 0 && int64(grown) > bytes) {
			flush()
			grown = size + input.bytes()
		}
		in, size = append(in, input.Value()), grown
	}
	if len(in) > 0 {
		flush()
	}
	return batches, nil
}
