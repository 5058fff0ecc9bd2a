package intrinsic

import (
	"crypto/md5"  //nolint:gosec // what the language offers
	"crypto/sha1" //nolint:gosec // what the language offers
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxText is the most characters that States.Hash, Base64Encode and
// Base64Decode take.
const maxText = 10_000

// formatTemplate puts values in place of the "{}" of a template. Of a template that
// is a literal, backslashes have not been dropped yet.
func formatTemplate(e *evaluation) (any, error) {
	template, err := e.text(0)
	if err != nil {
		return nil, err
	}
	values := e.arguments[1:]
	var b strings.Builder
	used := 0
	for i := 0; i < len(template); i++ {
		switch c := template[i]; {
		case c == '\\' && i+1 < len(template):
			i++
			b.WriteByte(template[i])
		case c == '{' && strings.HasPrefix(template[i:], "{}"):
			if used < len(values) {
				b.WriteString(show(values[used]))
			}
			used++
			i++
		case c == '{':
			return nil, e.failBrace('{', '}', i)
		case c == '}':
			return nil, e.failBrace('}', '{', i)
		default:
			b.WriteByte(c)
		}
	}
	if used != len(values) {
		return nil, e.fail(fmt.Sprintf("Invalid arguments in %s: number of arguments do not match the occurrences of {}.", e.function),
			fmt.Sprintf("expected as many values as the template has {}, which is %d, found %d", used, len(values)))
	}
	return b.String(), nil
}

// failBrace is the failure of a brace in a template that stands alone.
func (e *evaluation) failBrace(brace, other byte, offset int) error {
	return e.fail(fmt.Sprintf("Invalid template in %s: matching '%c' not found for '%c'.", e.function, other, brace),
		fmt.Sprintf("expected {}, or a backslash before the brace, in the template, found %c alone at character %d", brace, offset+1))
}

// show is how States.Format writes a value: strings as they are, objects and
// arrays as Java prints its maps and lists.
func show(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = show(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		members := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, name+"="+show(v[name]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	default:
		return jsonText(value)
	}
}

// limitText is a text argument of the functions with a limit.
func (e *evaluation) limitText(i int) (string, error) {
	text, err := e.text(i)
	if err == nil && utf8.RuneCountInString(text) > maxText {
		err = e.refuse("expected at most %d characters in argument %d, found %d", maxText, i+1, utf8.RuneCountInString(text))
	}
	return text, err
}

func base64Encode(e *evaluation) (any, error) {
	text, err := e.limitText(0)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

// base64Decode takes any text, as AWS does: it ends at padding, and characters
// that are none of Base64 or of its URL alphabet do not count.
func base64Decode(e *evaluation) (any, error) {
	text, err := e.limitText(0)
	if err != nil {
		return nil, err
	}
	text, _, _ = strings.Cut(text, "=")
	digits := strings.Map(func(r rune) rune {
		switch {
		case r == '-':
			return '+'
		case r == '_':
			return '/'
		case r == '+', r == '/', '0' <= r && r <= '9', 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z':
			return r
		default:
			return -1
		}
	}, text)
	const block = 4
	if len(digits)%block == 1 { // one digit is no byte yet
		digits = digits[:len(digits)-1]
	}
	data, _ := base64.RawStdEncoding.DecodeString(digits) // nothing is left that it refuses
	return string([]rune(string(data))), nil              // what is not UTF-8 becomes U+FFFD
}

// hash is the hash of a string, or of the JSON text of another value.
func hash(e *evaluation) (any, error) {
	text, ok := e.arguments[0].(string)
	if !ok {
		text = jsonText(e.arguments[0])
	}
	if utf8.RuneCountInString(text) > maxText {
		return nil, e.refuse("expected at most %d characters of data, found %d", maxText, utf8.RuneCountInString(text))
	}
	algorithm, err := e.text(1)
	if err != nil {
		return nil, err
	}
	var sum []byte
	switch data := []byte(text); algorithm {
	case "MD5":
		s := md5.Sum(data) //nolint:gosec // what the language offers
		sum = s[:]
	case "SHA-1":
		s := sha1.Sum(data) //nolint:gosec // what the language offers
		sum = s[:]
	case "SHA-256":
		s := sha256.Sum256(data)
		sum = s[:]
	case "SHA-384":
		s := sha512.Sum384(data)
		sum = s[:]
	case "SHA-512":
		s := sha512.Sum512(data)
		sum = s[:]
	default:
		return nil, e.invalid(1, "one of MD5, SHA-1, SHA-256, SHA-384, SHA-512")
	}
	return hex.EncodeToString(sum), nil
}

// stringSplit splits at every character of the separator; empty parts are left
// out.
func stringSplit(e *evaluation) (any, error) {
	text, err := e.text(0)
	if err != nil {
		return nil, err
	}
	separators, err := e.text(1)
	if err != nil {
		return nil, err
	}
	parts := []any{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		parts = append(parts, part)
	}
	return parts, nil
}

func uuid(e *evaluation) (any, error) { return e.env.UUID(), nil }
