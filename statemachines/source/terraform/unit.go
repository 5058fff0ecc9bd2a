package terraform

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// unit is a text in Terraform's language: a file, or a string of a .tf.json file.
type unit struct {
	file  string
	bytes []byte
	// origins are the bytes of the file that those of the unit come from, and one behind
	// the last; nil if the unit is the file.
	origins []int
	// mixed tells that the unit was made of parts of the file.
	mixed bool
}

// place is where bytes of the unit stand in the file.
func (u *unit) place(from, to int) Place {
	to = max(from, to)
	if u.origins == nil {
		return Place{u.file, from, to}
	}
	return Place{u.file, u.origins[min(from, len(u.bytes))], u.origins[min(to, len(u.bytes))]}
}

// units are the texts that expressions come from, by the names that their ranges have.
type units map[string]*unit

func (us units) add(u *unit) (name string) {
	name = fmt.Sprintf("%d:%s", len(us), u.file)
	us[name] = u
	return name
}

// of is the unit of a range.
func (us units) of(r hcl.Range) *unit { return us[r.Filename] }

func (us units) place(r hcl.Range) Place {
	return us.of(r).place(r.Start.Byte, r.End.Byte)
}

// source is the text of a range on one line.
func (us units) source(r hcl.Range) string {
	text := us.of(r).bytes
	to := min(r.End.Byte, len(text))
	from := min(r.Start.Byte, to)
	source := strings.Join(strings.Fields(string(text[from:min(to, from+4*maxSource)])), " ")
	if len(source) > maxSource {
		source = strings.ToValidUTF8(source[:maxSource], "") + "..."
	}
	return source
}

const maxSource = 120

// around is a range with the "${" and "}" that stand around it.
func (us units) around(r hcl.Range) Place {
	u := us.of(r)
	from, to := min(r.Start.Byte, len(u.bytes)), min(r.End.Byte, len(u.bytes))
	before := bytes.TrimRight(u.bytes[:from], " \t\r\n~")
	after := bytes.TrimLeft(u.bytes[to:], " \t\r\n~")
	if bytes.HasSuffix(before, []byte("${")) && bytes.HasPrefix(after, []byte("}")) {
		from, to = len(before)-len("${"), len(u.bytes)-len(after)+len("}")
	}
	return u.place(from, to)
}

// literal is the text of a literal of a template, with its places. Value and source have
// the same characters in the same order, but for escapes, and white space that the value
// lacks.
func (us units) literal(value string, r hcl.Range, quoted bool) Text {
	u := us.of(r)
	w := aligner{unit: u, value: value, at: min(r.Start.Byte, len(u.bytes)), end: min(r.End.Byte, len(u.bytes)), quoted: quoted}
	switch {
	case u.origins == nil && quoted:
		w.spelling = Quoted
	case u.origins == nil:
		w.spelling = Template
	case !quoted && !u.mixed:
		w.spelling = InJSON
	}
	for w.done < len(value) {
		if !w.next() {
			w.out = append(w.out, Piece{Text: value[w.done:], At: u.place(w.at, w.end)}) // the places of the rest are not known
			break
		}
	}
	return w.out
}

type aligner struct {
	unit    *unit
	value   string
	done    int // bytes of value
	at, end int // bytes of the unit
	quoted  bool
	out     Text

	spelling Spelling
}

// next aligns what stands next in the value.
func (w *aligner) next() bool {
	src, rest := w.unit.bytes, w.value[w.done:]
	if w.at >= w.end {
		return false
	}
	if !w.quoted && w.at > 0 && src[w.at-1] == '\n' { // the value may lack a part of the indentation
		w.at += max(0, blanks(src[w.at:w.end])-blanks([]byte(rest)))
	}
	if w.at >= w.end {
		return false
	}
	for _, escaped := range []string{"${", "%{"} {
		if strings.HasPrefix(rest, escaped) && bytes.HasPrefix(src[w.at:w.end], []byte(escaped[:1]+escaped)) {
			w.put(1, w.at, w.at+2)
			w.put(1, w.at+2, w.at+3)
			w.at += 3
			return true
		}
	}
	if w.quoted && src[w.at] == '\\' {
		size, decoded := unescape(src[w.at:w.end])
		if size == 0 || !strings.HasPrefix(rest, decoded) {
			return false
		}
		w.put(len(decoded), w.at, w.at+size)
		w.at += size
		return true
	}
	if src[w.at] == rest[0] {
		w.follow()
		return true
	}
	if strings.IndexByte(" \t\r\n", src[w.at]) >= 0 {
		w.at++
		return true
	}
	return false
}

// follow takes what stands in the source as it does in the value, up to the end of a line
// or what may be an escape.
func (w *aligner) follow() {
	src, from := w.unit.bytes, w.at
	for w.at < w.end && w.done+w.at-from < len(w.value) && src[w.at] == w.value[w.done+w.at-from] {
		b := src[w.at]
		if w.at > from && (b == '$' || b == '%' || b == '\\') {
			break
		}
		w.at++
		if b == '\n' {
			break
		}
	}
	n := w.at - from
	if last := len(w.out) - 1; last >= 0 && w.out[last].Exact && w.unit.origins == nil && w.out[last].At.To == from {
		w.out[last].At.To = w.at
		w.out[last].Text = w.value[w.done-len(w.out[last].Text) : w.done+n]
		w.done += n
		return
	}
	w.out = append(w.out, w.piece(w.value[w.done:w.done+n], from, w.at)...)
	w.done += n
}

// piece is a text that stands in the unit as it is.
func (w *aligner) piece(text string, from, to int) Text {
	if w.unit.origins == nil {
		return Text{{Text: text, At: w.unit.place(from, to), Exact: true, Spelling: w.spelling}}
	}
	var out Text
	for start := 0; start < len(text); {
		end := start + 1
		for end < len(text) && w.unit.origins[from+end] == w.unit.origins[from+end-1]+1 {
			end++
		}
		last := w.unit.origins[from+end]
		exact := last-w.unit.origins[from+start] == end-start
		if !exact && end-start > 1 { // the last is an escape
			end--
			exact, last = true, w.unit.origins[from+end]
		}
		out = append(out, Piece{Text: text[start:end], At: Place{w.unit.file, w.unit.origins[from+start], last}, Exact: exact, Escaped: !exact, Spelling: w.spelling})
		start = end
	}
	return out
}

func (w *aligner) put(n, from, to int) {
	w.out = append(w.out, Piece{Text: w.value[w.done : w.done+n], At: w.unit.place(from, to), Escaped: true, Spelling: w.spelling})
	w.done += n
}

func blanks(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }

// unescape decodes the escape at the begin of a quoted string's text.
func unescape(src []byte) (size int, decoded string) {
	if len(src) < 2 {
		return 0, ""
	}
	switch src[1] {
	case 'n':
		return 2, "\n"
	case 'r':
		return 2, "\r"
	case 't':
		return 2, "\t"
	case '"', '\\':
		return 2, string(src[1])
	case 'u', 'U':
		digits := 4
		if src[1] == 'U' {
			digits = 8
		}
		if len(src) < 2+digits {
			return 0, ""
		}
		var r rune
		if _, err := fmt.Sscanf(string(src[2:2+digits]), "%x", &r); err != nil || !utf8.ValidRune(r) {
			return 0, ""
		}
		return 2 + digits, string(r)
	}
	return 0, ""
}

// decodeJSON are the characters of a string of JSON that begins at a byte of a file, and
// the bytes that each comes from.
func decodeJSON(file string, text []byte, start int) *unit {
	u := &unit{file: file, origins: []int{}}
	at := start + 1
	for at < len(text) && text[at] != '"' {
		if text[at] != '\\' {
			u.bytes, u.origins = append(u.bytes, text[at]), append(u.origins, at)
			at++
			continue
		}
		r, size := jsontree.Unescape(string(text[at:min(len(text), at+len(`\u0000\u0000`))]))
		if size == 0 {
			break
		}
		for range len(string(r)) {
			u.origins = append(u.origins, at)
		}
		u.bytes = append(u.bytes, string(r)...)
		at += size
	}
	u.origins = append(u.origins, at)
	return u
}
