package typecheck

import "github.com/jobpoller/jobpoller/statemachines/asl"

// starts are the environments in which the flows inside of a state start.
func (x *scene) starts() []Env {
	s := x.state
	if s.Parallel == nil && s.Map == nil || x.isDead() {
		return nil
	}
	doc := x.inputPath()
	if s.Parallel != nil {
		name, template := x.arguments()
		doc = x.with(doc).templateOr(template, doc, name)
		out := make([]Env, len(s.Parallel.Branches))
		for i := range out {
			out[i] = Env{doc, x.vars, x.clock}
		}
		return out
	}
	vars := x.vars
	if s.Map.Distributed {
		vars = objectOf(newObject(nil))
	}
	return []Env{{x.with(doc).itemInput(), vars, x.clock}}
}

// checkMap reports what is wrong with the fields of a Map that say how it goes through its
// items. The scene's document is what the Map works on.
func (x *scene) checkMap() {
	m := x.state.Map
	const counts = numbers | texts // a recording of AWS takes the text of a number
	x.checkScalars(counts, m.MaxConcurrency, m.ToleratedFailureCount, m.ToleratedFailurePercentage)
	name, _ := x.arguments()
	if r := m.ItemReader; r != nil {
		if r.Parameters != nil {
			x.template(r.Parameters, x.at("ItemReader", name))
		}
		if most := r.Config.MaxItems; most != nil {
			x.checkScalar(counts, most, x.at("ItemReader", "ReaderConfig", most.Field))
		}
	}
	if w := m.ResultWriter; w != nil && w.Parameters != nil {
		x.template(w.Parameters, x.at("ResultWriter", name))
	}
	if b := m.ItemBatcher; b != nil {
		for _, most := range []*asl.Scalar{b.MaxItemsPerBatch, b.MaxInputBytesPerBatch} {
			if most != nil {
				x.checkScalar(counts, most, x.at("ItemBatcher", most.Field))
			}
		}
	}
}

// itemInput is the input of the flow that a Map has each item go through. The
// scene's document is what the Map works on.
func (x *scene) itemInput() Value {
	m := x.state.Map
	item := x.mapItem()
	if item.IsNothing() {
		return item
	}
	here := *x
	here.item = item
	input := here.templateOr(m.ItemSelector, item, x.selectorField())
	if m.ItemBatcher == nil {
		return input
	}
	fields := []field{{"Items", arrayOf(newList(input))}}
	if m.ItemBatcher.BatchInput != nil {
		fields = append(fields, field{"BatchInput", x.template(m.ItemBatcher.BatchInput, x.at("ItemBatcher", "BatchInput"))})
	}
	return objectOf(newObject(fields))
}

// selectorField is the name of the field that makes inputs of items.
func (x *scene) selectorField() string {
	if x.state.Map.Legacy && x.c.machine.Problem(x.state.Position.Pointer+"/ItemSelector", "").Pointer == "" {
		return "Parameters"
	}
	return "ItemSelector"
}

// mapItem is any item of a Map.
func (x *scene) mapItem() Value {
	m := x.state.Map
	switch {
	case m.ItemReader != nil && x.c.demands != nil:
		return itemOf(x.c.demands.demandedResult(x.state))
	case m.ItemReader != nil:
		return Value{}.without(missing)
	case !x.isJSONata():
		items := x.read(m.ItemsPath, x.at("ItemsPath"))
		x.checkKind("ItemsPath", items, arrays, x.at("ItemsPath"))
		return itemOf(items)
	case m.Items == nil:
		return itemOf(x.doc)
	default:
		return itemOf(x.template(m.Items, x.at("Items")))
	}
}

// itemOf is any element of an array.
func itemOf(v Value) Value {
	v.demandKinds(arrays)
	if !v.may(arrays) {
		return Nothing()
	}
	return v.list().element()
}
