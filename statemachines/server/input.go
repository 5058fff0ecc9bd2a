package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// readInput reads the members of a request, and refuses a request that breaks the rules
// of the model: what is of another type, and then all else at once.
func readInput(text []byte, shape *catalog.Shape) (map[string]any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, refuse(serialization, "the request is not JSON: %s", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, refuse(serialization, "something follows the JSON object of the request")
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, refuse(serialization, "the request is not a JSON object")
	}
	var c checker
	read := c.structure(members, shape, "")
	if c.mistyped != nil {
		return nil, c.mistyped
	}
	if n := len(c.broken); n > 0 {
		errors := "errors"
		if n == 1 {
			errors = "error"
		}
		return nil, refuse(validation, "%d validation %s detected: %s", n, errors, strings.Join(c.broken, "; "))
	}
	return read, nil
}

// checker finds what is wrong in a request.
type checker struct {
	mistyped error    // the first value of a wrong type
	broken   []string // constraints, in AWS's words
}

// maxBroken bounds the answer: no client reads more.
const maxBroken = 20

func (c *checker) fail(value, path, constraint string) {
	if len(c.broken) < maxBroken {
		c.broken = append(c.broken, fmt.Sprintf("Value %sat '%s' failed to satisfy constraint: Member must %s", value, path, constraint))
	}
}

func (c *checker) wrongType(value any, wanted string) any {
	if c.mistyped == nil {
		c.mistyped = refuse(serialization, "%s can not be converted to %s", tokenOf(value), wanted)
	}
	return nil
}

// tokenOf is what AWS's reader calls a value.
func tokenOf(value any) string {
	switch v := value.(type) {
	case string:
		return "STRING_VALUE"
	case json.Number:
		return "NUMBER_VALUE"
	case bool:
		return strings.ToUpper(strconv.FormatBool(v)) + "_VALUE"
	case []any:
		return "START_ARRAY"
	default:
		return "START_OBJECT"
	}
}

// structure returns the members that the model knows and that are not null.
func (c *checker) structure(members map[string]any, shape *catalog.Shape, path string) map[string]any {
	read := make(map[string]any, len(members))
	if shape == nil {
		return read
	}
	for i := range shape.Members {
		m := &shape.Members[i]
		at := m.Name
		if path != "" {
			at = path + "." + m.Name
		}
		if value := members[m.Name]; value != nil {
			read[m.Name] = c.value(value, m.Shape, at)
		} else if m.Required {
			c.fail("null ", at, "not be null")
		}
	}
	return read
}

// value checks one value, and returns it as fill takes it.
func (c *checker) value(value any, shape *catalog.Shape, path string) any {
	switch shape.Type {
	case catalog.Structure, catalog.Union:
		members, ok := value.(map[string]any)
		if !ok {
			return c.wrongType(value, "an Object")
		}
		return c.structure(members, shape, path)
	case catalog.List:
		items, ok := value.([]any)
		if !ok {
			return c.wrongType(value, "a List")
		}
		return c.list(items, shape, path)
	case catalog.String:
		text, ok := value.(string)
		if !ok {
			return c.wrongType(value, "a String")
		}
		c.text(text, shape, path)
		return text
	case catalog.Boolean:
		if _, ok := value.(bool); !ok {
			return c.wrongType(value, "a Boolean")
		}
		return value
	case catalog.Integer, catalog.Long:
		return c.integer(value, shape, path)
	case catalog.Float, catalog.Double:
		return c.float(value, shape, path)
	default:
		return c.wrongType(value, "a value of type "+string(shape.Type)) // TestEveryInputHasARule: there is no such member
	}
}

func (c *checker) list(items []any, shape *catalog.Shape, path string) any {
	if broken := lengthRule(len(items), shape); broken != "" {
		c.fail("'"+describe(items, shape)+"' ", path, broken)
		return nil
	}
	read := make([]any, 0, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s.%d.member", path, i+1)
		if item == nil {
			c.fail("null ", at, "not be null")
			continue
		}
		read = append(read, c.value(item, shape.Element.Shape, at))
	}
	return read
}

func (c *checker) text(text string, shape *catalog.Shape, path string) {
	shown := "'" + text + "' "
	if secret(shape) {
		shown = ""
	}
	// An empty definition gets as far as its own check at AWS.
	if broken := lengthRule(utf8.RuneCountInString(text), shape); broken != "" && (text != "" || shape.Name != "Definition") {
		c.fail(shown, path, broken)
	}
	if shape.Pattern != "" && !patterns[shape.Pattern](text) {
		c.fail(shown, path, "satisfy regular expression pattern: "+shape.Pattern)
	}
	if len(shape.Enum) > 0 && !slices.Contains(shape.Enum, text) {
		c.fail(shown, path, "satisfy enum value set: ["+strings.Join(shape.Enum, ", ")+"]")
	}
}

// secret tells whether AWS's messages do not quote values of the shape: those that the
// model calls sensitive. Its catalogue form does not say so, but their names do.
func secret(shape *catalog.Shape) bool {
	return strings.HasPrefix(shape.Name, "Sensitive") || shape.Name == "Definition" || shape.Name == "ConnectorParameters" ||
		strings.HasSuffix(shape.Name, "Description")
}

// lengthRule is the rule that a length breaks, or empty.
func lengthRule(n int, shape *catalog.Shape) string {
	if low, err := shape.Min.Int64(); err == nil && int64(n) < low {
		return fmt.Sprintf("have length greater than or equal to %d", low)
	}
	if high, err := shape.Max.Int64(); err == nil && int64(n) > high {
		return fmt.Sprintf("have length less than or equal to %d", high)
	}
	return ""
}

func (c *checker) integer(value any, shape *catalog.Shape, path string) any {
	number, ok := value.(json.Number)
	n, err := number.Int64()
	if !ok || err != nil || shape.Type == catalog.Integer && (n < math.MinInt32 || n > math.MaxInt32) {
		return c.wrongType(value, map[catalog.ShapeType]string{catalog.Integer: "an Integer", catalog.Long: "a Long"}[shape.Type])
	}
	c.number(float64(n), number.String(), shape, path)
	return n
}

func (c *checker) float(value any, shape *catalog.Shape, path string) any {
	number, ok := value.(json.Number)
	n, err := number.Float64()
	if !ok || err != nil || shape.Type == catalog.Float && math.Abs(n) > math.MaxFloat32 {
		return c.wrongType(value, "a Float")
	}
	c.number(n, number.String(), shape, path)
	return n
}

func (c *checker) number(n float64, text string, shape *catalog.Shape, path string) {
	if low, err := shape.Min.Float64(); err == nil && n < low {
		c.fail("'"+text+"' ", path, "have value greater than or equal to "+shape.Min.String())
	}
	if high, err := shape.Max.Float64(); err == nil && n > high {
		c.fail("'"+text+"' ", path, "have value less than or equal to "+shape.Max.String())
	}
}

// describe writes a value as AWS's messages do.
func describe(value any, shape *catalog.Shape) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case []any:
		if shape.Element == nil {
			return "[]"
		}
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = describe(item, shape.Element.Shape)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		members := make([]string, len(shape.Members))
		for i := range shape.Members {
			m := &shape.Members[i]
			members[i] = m.Name + "=" + describe(v[m.Name], m.Shape)
		}
		return shape.Name + "(" + strings.Join(members, ", ") + ")"
	default:
		return fmt.Sprint(v)
	}
}

// patterns are the model's, which Go's regular expressions cannot write.
var patterns = map[string]func(string) bool{
	`^(?=.*[a-zA-Z_\-\.])[a-zA-Z0-9_\-\.]+$`: func(s string) bool {
		letter := false
		for _, r := range s {
			isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' || r == '.'
			if !isLetter && (r < '0' || r > '9') {
				return false
			}
			letter = letter || isLetter
		}
		return letter
	},
	`[!-~]+`: func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
	},
	`\p{ASCII}*`: func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f })
	},
}

// fill sets the fields of a struct whose tags name the members.
func fill(to any, members map[string]any) { fillStruct(reflect.ValueOf(to).Elem(), members) }

func fillStruct(v reflect.Value, members map[string]any) {
	for i := range v.NumField() {
		if value, ok := members[memberOf(v.Type().Field(i))]; ok {
			fillValue(v.Field(i), value)
		}
	}
}

// memberOf is the name of the member that a field stands for.
func memberOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func fillValue(v reflect.Value, value any) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), value)
	case reflect.Struct:
		fillStruct(v, value.(map[string]any))
	case reflect.Slice:
		items := value.([]any)
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, item := range items {
			fillValue(v.Index(i), item)
		}
	default:
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
	}
}
