package terraform

import (
	"slices"
	"strconv"
	"strings"
)

// treeCalls are functions whose result has values of their arguments, with their places.
// They return nil if the result is unknown.
var treeCalls = map[string]func(args []*Value, at Place) *Value{
	"sensitive":    first,
	"nonsensitive": first,
	"tolist":       first,
	"tomap":        first,
	"toset":        set,
	"distinct":     distinct,
	"concat":       concat,
	"merge":        merge,
	"lookup":       lookup,
	"element":      element,
	"values":       values,
	"keys":         keys,
	"flatten":      flatten,
	"length":       length,
	"coalesce":     coalesce,
	"one":          one,
	"reverse":      reverse,
}

func first(args []*Value, _ Place) *Value { return args[0] }

// set are the items of a list, each once, in the order in which Terraform goes through them.
// That of other values than strings is unknown.
func set(args []*Value, at Place) *Value {
	out := distinct(args, at)
	if out == nil || slices.ContainsFunc(out.Items, func(v *Value) bool { return v.Kind != String }) {
		return nil
	}
	text := func(v *Value) string {
		known, _ := v.Text.known()
		return known
	}
	slices.SortFunc(out.Items, func(a, b *Value) int { return strings.Compare(text(a), text(b)) })
	return out
}

// distinct are the items of a list, each once.
func distinct(args []*Value, at Place) *Value {
	if args[0].Kind != List {
		return nil
	}
	out := &Value{Kind: List, At: at}
	has := map[string]bool{}
	for _, item := range args[0].Items {
		text, ok := item.text()
		known, whole := text.known()
		if !ok || !whole {
			return nil
		}
		if !has[known] {
			has[known] = true
			out.Items = append(out.Items, item)
		}
	}
	return out
}

func concat(args []*Value, at Place) *Value {
	out := &Value{Kind: List, At: at}
	for _, list := range args {
		if list.Kind != List {
			return nil
		}
		out.Items = append(out.Items, list.Items...)
	}
	return out
}

func merge(args []*Value, at Place) *Value {
	out := &Value{Kind: Object, At: at}
	places := map[string]int{}
	for _, object := range args {
		switch object.Kind {
		case Null:
			continue
		case Object:
		case Unknown, Bool, Number, String, List:
			return nil
		}
		if object.Hole != nil { // others of its members are unknown
			return nil
		}
		out.open = out.open || object.open
		for _, m := range object.Members {
			name, known := m.Name.Text.known()
			i, has := places[name]
			switch {
			case !known:
				return nil
			case has:
				out.Members[i] = m
			default:
				places[name] = len(out.Members)
				out.Members = append(out.Members, m)
			}
		}
	}
	return out
}

func lookup(args []*Value, at Place) *Value {
	if len(args) < 2 {
		return nil
	}
	found := stepInto(args[0], args[1], "", at)
	switch {
	case found.Kind != Unknown:
		return found
	case found.Hole.failed && len(args) > 2:
		return args[2]
	}
	return nil
}

func element(args []*Value, _ Place) *Value {
	if len(args) < 2 || args[0].Kind != List || len(args[0].Items) == 0 {
		return nil
	}
	i, err := strconv.Atoi(args[1].Literal)
	if err != nil || i < 0 {
		return nil
	}
	return args[0].Items[i%len(args[0].Items)]
}

func values(args []*Value, at Place) *Value {
	if args[0].Kind != Object {
		return nil
	}
	members, ok := args[0].sorted()
	if !ok {
		return nil
	}
	out := &Value{Kind: List, At: at}
	for _, m := range members {
		out.Items = append(out.Items, m.Value)
	}
	return out
}

func keys(args []*Value, at Place) *Value {
	if args[0].Kind != Object {
		return nil
	}
	members, ok := args[0].sorted()
	if !ok {
		return nil
	}
	out := &Value{Kind: List, At: at}
	for _, m := range members {
		out.Items = append(out.Items, m.Name)
	}
	return out
}

// flatten are the items of lists in lists.
func flatten(args []*Value, at Place) *Value {
	out := &Value{Kind: List, At: at}
	open := []*Value{args[0]}
	for len(open) > 0 {
		v := open[len(open)-1]
		open = open[:len(open)-1]
		switch v.Kind {
		case List:
			for _, item := range slices.Backward(v.Items) {
				open = append(open, item)
			}
			if len(open)+len(out.Items) > maxMachineSteps {
				return nil
			}
		case Unknown:
			return nil
		case Null, Bool, Number, String, Object:
			out.Items = append(out.Items, v)
		}
	}
	return out
}

func length(args []*Value, at Place) *Value {
	var n int
	switch v := args[0]; {
	case v.Kind == List:
		n = len(v.Items)
	case v.Kind == Object && !v.open:
		n = len(v.Members)
	default:
		return nil
	}
	return &Value{Kind: Number, Literal: strconv.Itoa(n), At: at}
}

// coalesce is the first value that is neither null nor empty.
func coalesce(args []*Value, _ Place) *Value {
	for _, v := range args {
		switch v.Kind {
		case Unknown:
			return nil
		case Null:
		case String:
			if len(v.Text) > 0 {
				return v
			}
		case Bool, Number, List, Object:
			return v
		}
	}
	return nil
}

func one(args []*Value, at Place) *Value {
	switch {
	case args[0].Kind != List || len(args[0].Items) > 1:
		return nil
	case len(args[0].Items) == 0:
		return &Value{Kind: Null, At: at}
	}
	return args[0].Items[0]
}

func reverse(args []*Value, at Place) *Value {
	if args[0].Kind != List {
		return nil
	}
	out := &Value{Kind: List, At: at, Items: slices.Clone(args[0].Items)}
	slices.Reverse(out.Items)
	return out
}
