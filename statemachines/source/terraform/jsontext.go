package terraform

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// encode is a value as JSON, in the order of the source.
func encode(v *Value, b *budget) (Text, bool) {
	w := &encoder{budget: b}
	w.value(v, 0)
	return w.out, !w.full
}

type encoder struct {
	budget *budget
	out    Text
	full   bool
}

func (w *encoder) put(text string, at Place) { w.add(Piece{Text: text, At: at}) }

func (w *encoder) add(p Piece) {
	if w.full = w.full || !w.budget.take(len(p.Text)+pieceBytes); !w.full {
		w.out = append(w.out, p)
	}
}

func (w *encoder) value(v *Value, depth int) {
	if w.full = w.full || depth > jsontree.MaxDepth; w.full {
		return
	}
	if v.Hole != nil {
		w.add(Piece{Hole: v.Hole, At: v.At})
		return
	}
	switch v.Kind {
	case Unknown:
	case Null:
		w.put("null", v.At)
	case Bool, Number:
		w.put(v.Literal, v.At)
	case String:
		w.quote(v)
	case List:
		w.put("[", v.At)
		for i, item := range v.Items {
			if i > 0 {
				w.put(",", v.At)
			}
			w.value(item, depth+1)
		}
		w.put("]", v.At)
	case Object:
		w.put("{", v.At)
		for i, m := range v.Members {
			if i > 0 {
				w.put(",", v.At)
			}
			w.quote(m.Name)
			w.put(":", m.Key)
			w.value(m.Value, depth+1)
		}
		w.put("}", v.At)
	}
}

// quote writes a string. What JSON escapes stays at its character's place.
func (w *encoder) quote(v *Value) {
	w.put(`"`, v.At)
	for _, p := range v.Text {
		if p.Hole != nil {
			w.add(p)
			continue
		}
		j := joinText(Text{p})
		from := 0
		for i := range len(p.Text) {
			if c := p.Text[i]; c >= ' ' && c != '"' && c != '\\' {
				continue
			}
			w.run(j.slice(from, i))
			escaped := jsontree.Quote(p.Text[i : i+1])
			w.put(string(escaped[1:len(escaped)-1]), j.place(i, i+1))
			from = i + 1
		}
		w.run(j.slice(from, len(p.Text)))
	}
	w.put(`"`, v.At)
}

func (w *encoder) run(t Text) {
	for _, p := range t {
		w.add(p)
	}
}

// Holes in a text of JSON or YAML that is decoded stand in it as a number between two
// characters of the private use area.
const holeOpen, holeClose = "\ue000", "\ue001"

// marked is a text with its holes as strings of JSON, or as words of YAML, and where its
// bytes come from.
func marked(t Text, yaml bool) (text []byte, parts *joined) {
	var b bytes.Buffer
	quotes := Quotes{}
	j := &joined{text: t}
	for i, p := range t {
		j.starts = append(j.starts, b.Len())
		if p.Hole == nil {
			quotes.Read(p.Text)
			b.WriteString(p.Text)
			continue
		}
		mark := holeOpen + strconv.Itoa(i) + holeClose
		if !yaml && !quotes.Inside {
			mark = `"` + mark + `"`
		}
		b.WriteString(mark)
	}
	j.whole = b.String()
	return b.Bytes(), j
}

// Quotes tells what stands in strings of a text of JSON that is read in pieces.
type Quotes struct {
	Inside  bool
	escaped bool
}

// Read reads a piece.
func (q *Quotes) Read(text string) {
	for i := range len(text) {
		switch {
		case q.escaped:
			q.escaped = false
		case text[i] == '"':
			q.Inside = !q.Inside
		case text[i] == '\\':
			q.escaped = q.Inside
		}
	}
}

// decoder makes values of the data in a text.
type decoder struct {
	parts  *joined
	made   map[*Data]*Value
	budget *budget
}

func (d *decoder) value(data *Data) *Value {
	if made := d.made[data]; made != nil {
		return made
	}
	v := &Value{Kind: data.Kind, At: d.parts.place(data.From, data.To)}
	d.made[data] = v
	if !d.budget.take(len(data.Text) + pieceBytes) {
		v.Kind, v.Hole = Unknown, &Hole{}
		return v
	}
	switch data.Kind {
	case String:
		v.Text = d.text(data)
		if len(v.Text) == 1 && v.Text[0].Hole != nil {
			v.Kind, v.Hole, v.Text = Unknown, v.Text[0].Hole, nil
		}
	case Bool, Number:
		v.Literal = data.Text
	case List:
		for _, item := range data.Items {
			v.Items = append(v.Items, d.value(item))
		}
	case Object:
		for _, m := range data.Members {
			name := d.value(m.Name)
			if name.Kind != String {
				name = &Value{Kind: String, Text: d.text(m.Name), At: name.At}
			}
			v.Members = append(v.Members, Member{Name: name, Key: name.At, Value: d.value(m.Value)})
		}
	case Unknown, Null:
	}
	return v
}

// text are the characters of a string, with their places and holes.
func (d *decoder) text(data *Data) Text {
	var out Text
	rest, at := data.Text, 0
	for rest != "" {
		from := strings.Index(rest, holeOpen)
		if from < 0 {
			from = len(rest)
		}
		out = append(out, d.run(data, at, at+from)...)
		at, rest = at+from, rest[from:]
		number, after, found := strings.Cut(strings.TrimPrefix(rest, holeOpen), holeClose)
		i, err := strconv.Atoi(number)
		if rest == "" || !found || err != nil || i < 0 || i >= len(d.parts.text) {
			if rest != "" { // a character of the user's
				out = append(out, d.run(data, at, at+len(holeOpen))...)
				at, rest = at+len(holeOpen), rest[len(holeOpen):]
			}
			continue
		}
		out = append(out, d.parts.text[i])
		at, rest = at+len(rest)-len(after), after
	}
	return out
}

// run are characters without a hole.
func (d *decoder) run(data *Data, from, to int) Text {
	var out Text
	for start := from; start < to; {
		origin := data.Origins[start]
		i := d.parts.piece(origin)
		p := d.parts.text[i]
		end := start + 1
		for end < to && data.Origins[end] == data.Origins[end-1]+1 && (i+1 == len(d.parts.starts) || data.Origins[end] < d.parts.starts[i+1]) {
			end++
		}
		piece := Piece{Text: data.Text[start:end], At: p.At}
		if p.Exact {
			piece.At = Place{p.At.File, p.At.From + origin - d.parts.starts[i], p.At.From + origin - d.parts.starts[i] + end - start}
			piece.Exact = p.Text[origin-d.parts.starts[i]:min(origin-d.parts.starts[i]+end-start, len(p.Text))] == piece.Text
		}
		out = append(out, piece)
		start = end
	}
	return out
}
