package jsonata

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// messages are JSONata's texts by code, where they have no parameter, or one
// that the engine's own text tells.
var messages = map[string]string{
	"D1004": "Regular expression matches zero length string",
	"D3010": "Second argument of replace function cannot be an empty string",
	"D3011": "Fourth argument of replace function must evaluate to a positive number",
	"D3012": "Attempted to replace a matched string with a non-string value",
	"D3020": "Third argument of split function must evaluate to a positive number",
	"D3040": "Third argument of match function must evaluate to a positive number",
	"D3050": "The second argument of reduce function must be a function with at least two arguments",
	"D3080": "The picture string must only contain a maximum of two sub-pictures",
	"D3081": "The sub-picture must not contain more than one instance of the 'decimal-separator' character",
	"D3082": "The sub-picture must not contain more than one instance of the 'percent' character",
	"D3083": "The sub-picture must not contain more than one instance of the 'per-mille' character",
	"D3084": "The sub-picture must not contain both a 'percent' and a 'per-mille' character",
	"D3085": "The mantissa part of a sub-picture must contain at least one character that is either an" +
		" 'optional digit character' or a member of the 'decimal digit family'",
	"D3086": "The sub-picture must not contain a passive character that is preceded by an active character" +
		" and that is followed by another active character",
	"D3087": "The sub-picture must not contain a 'grouping-separator' character that appears adjacent to a" +
		" 'decimal-separator' character",
	"D3088": "The sub-picture must not contain a 'grouping-separator' at the end of the integer part",
	"D3089": "The sub-picture must not contain two adjacent instances of the 'grouping-separator' character",
	"D3070": "The single argument form of the sort function can only be applied to an array of strings or an" +
		" array of numbers.  Use the second argument to specify a comparison function",
	"D3138": "The $single() function expected exactly 1 matching result.  Instead it matched more.",
	"D3139": "The $single() function expected exactly 1 matching result.  Instead it matched 0.",
	"T1006": "Attempted to invoke a non-function",
	"T1008": "Attempted to partially apply a non-function",
	"T2003": "The left side of the range operator (..) must evaluate to an integer",
	"T2004": "The right side of the range operator (..) must evaluate to an integer",
	"T2006": "The right side of the function application operator ~> must be a function",
	"T2008": "The expressions within an order-by clause must evaluate to numeric or string values",
}

var (
	codePattern     = regexp.MustCompile(`(?s)^([STDU]\d{4}): (.*)$`)
	operandPattern  = regexp.MustCompile(`^the (left|right) operand of the (".*") operator`)
	bothPattern     = regexp.MustCompile(`^the operands of the (".*") operator`)
	functionPattern = regexp.MustCompile(`^\$(\w+): `)
	indexPattern    = regexp.MustCompile(`argument (\d)`)
	valuePattern    = regexp.MustCompile(
		`unable to cast (".*") to a number|out of range: (.*)$|duplicate key: (".*")|` +
			`the value ('.*') does not match`)
)

// engineError is a failure of the engine with the text that JSONata gives it.
func engineError(err error) error {
	m := codePattern.FindStringSubmatch(err.Error())
	if m == nil {
		return &Error{Message: err.Error()}
	}
	code, text := m[1], m[2]
	switch code {
	case codeLimit:
		return errDepth
	case "D3010":
		if strings.Contains(text, "exceeds maximum") { // of $pad and $append
			return errMemory
		}
		text = messages[code]
	case "D3137":
		// The engine does not tell the text that it could not decode.
		if m := functionPattern.FindStringSubmatch(text); m != nil && strings.HasPrefix(m[1], "decodeUrl") {
			code, text = "D3140", "Malformed URL passed to $"+m[1]+"()"
		}
	case "T2001", "T2002":
		if m := operandPattern.FindStringSubmatch(text); m != nil {
			code = map[string]string{"left": "T2001", "right": "T2002"}[m[1]]
			text = fmt.Sprintf("The %s side of the %s operator must evaluate to a number", m[1], m[2])
		}
	case "T2010":
		if m := bothPattern.FindStringSubmatch(text); m != nil {
			text = fmt.Sprintf("The expressions either side of operator %s must evaluate to numeric or string values", m[1])
		}
	case "D1001", "D1009", "D3030", "D3110":
		text = valueMessage(code, text)
	case "T0410", "T0411", "T0412", "D3006":
		return argumentError(code, text)
	default:
		if known := messages[code]; known != "" {
			text = known
		}
	}
	return &Error{Code: code, Message: text}
}

func valueMessage(code, text string) string {
	m := valuePattern.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	value := m[1] + m[2] + m[3] + m[4]
	switch code {
	case "D3030":
		return "Unable to cast value to a number: " + value
	case "D3110":
		return "The argument of the toMillis function must be an ISO 8601 formatted timestamp. Given " +
			compact(value[1:len(value)-1])
	case "D1009":
		return "Multiple key definitions evaluate to same key: " + value
	}
	switch value {
	case "+Inf":
		value = `"Infinity"`
	case "-Inf":
		value = `"-Infinity"`
	case "NaN":
		value = `"NaN"`
	}
	return "Number out of range: " + value
}

// argumentError is for an argument of a wrong type. The engine has a code of
// its own, D3006, for one that is missing.
func argumentError(code, text string) error {
	m := functionPattern.FindStringSubmatch(text)
	if m == nil {
		return &Error{Code: code, Message: text}
	}
	name, index := m[1], 1
	if m := indexPattern.FindStringSubmatch(text); m != nil {
		index, _ = strconv.Atoi(m[1])
	} else if i := strings.IndexAny(text, "123456789"); i >= 0 {
		// "requires at least 2 arguments", "takes at most 1 argument"
		index = int(text[i] - '0')
		if !strings.Contains(text, "requires") {
			index++
		}
	}
	switch code {
	case "T0411":
		return &Error{Code: code, Message: fmt.Sprintf(
			"Context value is not a compatible type with argument 1 of function %q", name)}
	case "T0412":
		items := "numbers"
		if name == "join" {
			items = "strings"
		}
		return &Error{Code: code, Message: fmt.Sprintf("Argument 1 of function %q must be an array of %q", name, items)}
	}
	return badArgument(index, name)
}
