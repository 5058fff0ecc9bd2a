package jsontree

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxDigits bounds the digits of a whole number: as many as the largest
// float64 has. 1e999999999 is a whole number too, and would fill the memory.
const maxDigits = 309

// WholeNumber returns the digits of a JSON number that is whole, however it is
// spelled: 60, 60.0, 6e1 and 600E-1 are all "60". No digit gets lost, whatever
// the size. It returns false for a fraction, for a number of more than 309
// digits, and for a text that is no JSON number.
func WholeNumber(literal string) (digits string, ok bool) {
	sign := ""
	rest, negative := strings.CutPrefix(literal, "-")
	if negative {
		sign = "-"
	}
	exponent := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(rest[at+1:]); err != nil {
			return "", false
		}
		rest = rest[:at]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	all := whole + fraction
	if strings.Trim(all, "0123456789") != "" || whole == "" {
		return "", false
	}
	significant := strings.TrimLeft(all, "0")
	if significant == "" {
		return "0", true
	}
	// The value is significant times ten to the power of shift.
	trimmed := strings.TrimRight(significant, "0")
	shift := exponent - len(fraction) + len(significant) - len(trimmed)
	if shift < 0 || shift > maxDigits || len(trimmed)+shift > maxDigits {
		return "", false
	}
	return sign + trimmed + strings.Repeat("0", shift), true
}

// integer returns the value of a node that is a whole number of that many bits.
func integer(n *Node, bits int) (v int64, ok bool) {
	if n.Kind != Number {
		return 0, false
	}
	digits, ok := WholeNumber(n.Text)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(digits, 10, bits)
	return v, err == nil
}

// DigitsOnly returns an object's text with its members that are whole numbers
// spelled as encoding/json reads them into an int. Any other text, and what is
// inside of members, it returns as it is.
func DigitsOnly(object []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	changed := false
	for name, raw := range members {
		if digits, ok := WholeNumber(string(raw)); ok && digits != string(raw) {
			members[name], changed = json.RawMessage(digits), true
		}
	}
	if !changed {
		return object
	}
	text, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return text
}
