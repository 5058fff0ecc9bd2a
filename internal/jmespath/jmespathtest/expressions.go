package jmespathtest

import (
	_ "embed"
	"strings"
)

//go:embed aws-waiters.txt
var awsWaiters string

// AWSExpressions are the distinct expressions of AWS's waiters.
func AWSExpressions() []string {
	var expressions []string
	for line := range strings.Lines(awsWaiters) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			expressions = append(expressions, line)
		}
	}
	return expressions
}

// odd are expressions that the expressions of AWS's waiters do not contain.
var odd = []string{
	`"x y".z`, "a[0]", "length(@)", `"\ud800"`, "a.", "\xff", `"\`, "a[::-1].b | [0]", "`\"tick\\``", "'it\\'s'",
	"{a: b, c: [d, *]}", "sort_by(a, &b)[].c", "map(&[], a)", "a[?!(b < `1`) || c]", "not_null(a, `{}`).b", "merge(@, a).*", "&a", "a[:::]",
	"to_string(a) == 'x' && !b", "a.b.c[*].d[].e.[f, g][]", "((((a))))", "-1", "a b",
}

// EachSeed gives what fuzzing starts from: the expressions of AWS's waiters, and odd ones.
func EachSeed(add func(string)) {
	for _, e := range AWSExpressions() {
		add(e)
	}
	for _, e := range odd {
		add(e)
	}
}
