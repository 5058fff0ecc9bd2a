package javasdk

import (
	"unicode"
	"unicode/utf8"
)

// Capitalize is the name with a capital first letter, as operations have.
func Capitalize(name string) string { return mapFirst(name, unicode.ToUpper) }

// Uncapitalize is the name with a small first letter, as the actions of SDK
// integrations have.
func Uncapitalize(name string) string { return mapFirst(name, unicode.ToLower) }

func mapFirst(name string, change func(rune) rune) string {
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return name
	}
	return string(change(first)) + name[size:]
}
