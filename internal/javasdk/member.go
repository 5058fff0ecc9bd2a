package javasdk

import (
	"strings"
	"unicode"
)

// MemberName is how Step Functions spells a member of a structure in the
// arguments and results of its SDK integrations: as the SDK for Java names the
// method that sets it (unCapitalize of its code generator's Utils), with a
// capital. An acronym at the beginning so has one capital and further on stays:
// "DBInstances" is "DbInstances", "status" is "Status", "MultiAZ" is "MultiAZ".
//
// It is also the rule for what people write: two names are the same member if it
// makes one of them. So the model's spelling, that of the SDK for Go and that of
// Step Functions are taken everywhere, each with a small or a capital first letter.
func MemberName(member string) string {
	name := []rune(member)
	for i := 1; i < len(name) && unicode.IsUpper(name[i]); i++ {
		if i+1 < len(name) && unicode.IsLower(name[i+1]) {
			break // the first letter of the next word
		}
		name[i] = unicode.ToLower(name[i])
	}
	if len(name) > 0 {
		name[0] = unicode.ToUpper(name[0])
	}
	return string(name)
}

// MemberPath is a path of the model, such as "tasks[0].lastStatus", with the names of its members
// as Step Functions writes them.
func MemberPath(path string) string {
	steps := strings.Split(path, ".")
	for i, step := range steps {
		steps[i] = MemberName(step)
	}
	return strings.Join(steps, ".")
}
