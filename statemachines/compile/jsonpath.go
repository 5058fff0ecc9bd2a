package compile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// memberTest writes a comparison as a Choice rule of JSONPath, if its path is a
// member path such as a.b.
func (l *loopStates) memberTest(m *pollcore.PathMatcher) (object, error) {
	is, path, err := l.typeTest(m)
	if err != nil {
		return nil, err
	}
	equals := object{"Variable": path, "StringEquals": m.Expected}
	if m.Comparator == pollcore.BooleanEquals {
		expected, err := strconv.ParseBool(m.Expected)
		if err != nil {
			return nil, err
		}
		equals = object{"Variable": path, "BooleanEquals": expected}
	}
	return object{"And": append(is, equals)}, nil
}

// typeTest is the condition that there is a value of the type that is compared, and
// its path.
func (l *loopStates) typeTest(m *pollcore.PathMatcher) (is []object, path string, err error) {
	if path, err = l.member(m.Path); err != nil {
		return nil, "", err
	}
	kind := "IsString"
	switch m.Comparator {
	case pollcore.StringEquals:
	case pollcore.BooleanEquals:
		kind = "IsBoolean"
	default:
		return nil, "", fmt.Errorf("%s compares the elements of a list, and a Choice rule in JSONPath cannot do that", m.Path)
	}
	return []object{{"Variable": path, "IsPresent": true}, {"Variable": path, kind: true}}, path, nil
}

// intrinsicText writes a string in an intrinsic function.
func intrinsicText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "'", `\'`, "{", `\{`, "}", `\}`).Replace(s)
}

// output is the JSONPath of what the operation gave.
func (l *loopStates) output() string {
	if l.call.SelfFeeding {
		return "$"
	}
	return "$.output"
}

// member writes a JMESPath expression as a path of JSONPath into the output, if
// it is a member path such as a.b.
func (l *loopStates) member(text string) (string, error) {
	path, err := pathOf(text)
	if err != nil {
		return "", err
	}
	return l.output() + strings.TrimPrefix(path, "$"), nil
}

// pathOf writes a JMESPath expression as JSONPath, if it is a member path such as a.b.
func pathOf(text string) (string, error) {
	e, err := jmespath.Parse(text)
	if err != nil {
		return "", err
	}
	names, ok := e.Names()
	if !ok {
		return "", fmt.Errorf("JSONPath can read only single members such as A.B here, found %s", text)
	}
	for _, name := range names {
		if !plainName.MatchString(name) {
			return "", fmt.Errorf("%s has the member %q, which a JSONPath path cannot name", text, name)
		}
	}
	return "$." + strings.Join(names, "."), nil
}
