package derived

import (
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// idSuffixes end the name of a member that names something.
var idSuffixes = []string{"identifier", "arn", "name", "id"}

// findArguments finds the members of a describe call's input that select the job, in the answer to the start call or in its
// input; nil if one that is required is in neither, or none is about the job.
func findArguments(start, describe *catalog.Operation, about string) map[string]string {
	found, selects := map[string]string{}, false
	for _, m := range selectors(describe.Input, about) {
		if m.Shape.Type != catalog.String || len(m.Shape.Enum) > 0 {
			return nil
		}
		isID := namesIt(m.Name, about)
		expression, fresh := argument(start, m.Name, about)
		if expression == "" {
			return nil
		}
		found[m.Name] = expression
		selects = selects || fresh || isID && makes(start)
	}
	if !selects {
		return nil
	}
	return found
}

// selectors are the members of an input that are required and, if none of those names what the call is about, the one
// that does: by its id, where there are several.
func selectors(input *catalog.Shape, about string) []*catalog.Member {
	var required []*catalog.Member
	optional, isNamed := map[string]*catalog.Member{}, false
	for i := range input.Members {
		switch m := &input.Members[i]; {
		case m.Required:
			required, isNamed = append(required, m), isNamed || namesIt(m.Name, about)
		case namesIt(m.Name, about) && m.Shape.Type == catalog.String:
			optional[suffixOf(m.Name)] = m
		}
	}
	for _, suffix := range []string{"id", "arn", "identifier", "name"} {
		if m := optional[suffix]; m != nil && !isNamed {
			return append(required, m)
		}
	}
	return required
}

// argument is the expression over the start call that gives a member of the describe call; empty if there is none. It is
// fresh if the service answers it: then no earlier job has it.
func argument(start *catalog.Operation, member, about string) (expression string, fresh bool) {
	if path := sameIn(start.Output, "output", member, about); path != "" {
		return path, sameIn(start.Input, "input", member, "") == ""
	}
	if start.Input == nil {
		return "", false
	}
	for i := range start.Input.Members {
		m := &start.Input.Members[i]
		isSame := strings.EqualFold(m.Name, member) || namesIt(member, about) && namesIt(m.Name, about) && suffixOf(m.Name) == "name" && suffixOf(member) != "id"
		if isSame && m.Required && m.Shape.Type == catalog.String {
			return "input." + m.Name, false
		}
	}
	return "", false
}

// sameIn is the path in a shape, and in its one structure, of a member with the same name or, if both name what the calls
// are about, of its like.
func sameIn(s *catalog.Shape, root, member, about string) string {
	if s == nil {
		return ""
	}
	if name := likeIn(s, member, about); name != "" {
		return root + "." + name
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Shape.Type != catalog.Structure || about == "" || !isAbout(m.Name, about) {
			continue
		}
		if name := likeIn(m.Shape, member, about); name != "" {
			return root + "." + m.Name + "." + name
		}
	}
	return ""
}

// likeIn is the member of a structure with the same name, or else, if the member names what the call is about, the one
// that does so in the nearest way: its id, ARN or name.
func likeIn(s *catalog.Shape, member, about string) string {
	bySuffix := map[string]string{}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Shape.Type != catalog.String || len(m.Shape.Enum) > 0 {
			continue
		}
		if strings.EqualFold(m.Name, member) {
			return m.Name
		}
		if about != "" && namesIt(m.Name, about) {
			bySuffix[suffixOf(m.Name)] = m.Name
		}
	}
	if about == "" || !namesIt(member, about) {
		return ""
	}
	suffix := suffixOf(member)
	if suffix != "identifier" {
		return bySuffix[suffix]
	}
	for _, other := range []string{suffix, "id", "arn", "name"} {
		if name := bySuffix[other]; name != "" {
			return name
		}
	}
	return ""
}

// namesIt tells whether a member names what a call is about: JobId, Id and ImportJobArn of an ImportJob.
func namesIt(member, about string) bool {
	suffix := suffixOf(member)
	return suffix != "" && strings.HasSuffix(strings.ToLower(about), strings.ToLower(member[:len(member)-len(suffix)])) || strings.EqualFold(member, about)
}

// suffixOf is the word by which a member names something; empty if it names nothing.
func suffixOf(member string) string {
	for _, suffix := range idSuffixes {
		if strings.HasSuffix(strings.ToLower(member), suffix) {
			return suffix
		}
	}
	return ""
}
