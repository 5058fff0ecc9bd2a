package source

import (
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var (
	// arnText is an ARN in a text.
	arnText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`arn:[^"'\s]*`) })
	// pseudoParameter is a pseudo parameter as Fn::Sub fills it in.
	pseudoParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(AWS::\w+)\}`) })
)

// checkPseudo reports the first pseudo parameter in an ARN that stands outside of Fn::Sub: nobody
// fills it in, and AWS gets the text as it is.
func (m *machineReader) checkPseudo(v *value, pointer string) bool {
	if m.looked[v] { // values share what they share in the file
		return false
	}
	m.looked[v] = true
	name, argument := intrinsic(v)
	switch {
	case name == "Fn::Sub":
		return false
	case name == "Fn::Join" && argument.kind == jsontree.Array:
		return m.checkPseudoItems(argument, pointer)
	case name != "":
		return false
	}
	if text, ok := v.literal(); ok {
		return m.checkPseudoText(v, text, pointer)
	}
	return m.checkPseudoItems(v, pointer)
}

func (m *machineReader) checkPseudoItems(v *value, pointer string) bool {
	for _, item := range v.items {
		if m.checkPseudo(item, pointer) {
			return true
		}
	}
	for _, inner := range v.members {
		if m.checkPseudo(inner.value, pointer) {
			return true
		}
	}
	return false
}

func (m *machineReader) checkPseudoText(v *value, text, pointer string) bool {
	if !strings.Contains(text, "${AWS::") {
		return false
	}
	for _, arn := range arnText().FindAllString(text, -1) {
		found := pseudoParameter().FindStringSubmatch(arn)
		if found == nil || m.substitutions.get(found[1]) != nil {
			continue
		}
		severity, does := diag.Danger, "no call finds this ARN"
		if strings.Contains(arn, ":states:::") {
			severity, does = diag.Error, "AWS rejects the Resource"
		}
		m.report(severity, v, pointer, "${%s} stands outside of Fn::Sub, so nothing fills it in, and %s; wrap this text in Fn::Sub", found[1], does)
		return true
	}
	return false
}
