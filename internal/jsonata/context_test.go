package jsonata_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

func TestContextReferences(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		"phone":                           {"phone"},
		"phone.number[0]":                 {"phone"},
		"`a b`.c + d":                     {"a b", "d"},
		`"a".b`:                           {"a"},
		`"a"`:                             nil,
		"a + b * a":                       {"a", "b"},
		"$.a":                             {"$"},
		"$$":                              {"$$"},
		"[1, a, [b]]":                     {"a", "b"},
		"[a..b]":                          {"a", "b"},
		"{a: b}":                          {"a", "b"},
		"$x ? a : b":                      {"a", "b"},
		"($y := a; $y)":                   {"a"},
		"f(a)":                            {"f", "a"},
		"$sum(a)":                         {"a"},
		"$sum(?, a)":                      {"a"},
		"a ~> $sum()":                     {"a"},
		"-a":                              {"a"},
		"function($x){ a.b }":             {"a"},
		"$x[a]":                           nil,
		"$x.a^(b)":                        nil,
		"$x.a{b: c}":                      nil,
		"$x.(a)":                          nil,
		"$x.a@$y.b":                       nil,
		"$x ~> |a|{}|":                    nil,
		"$x.a.$sum(b)":                    nil,
		"$states.input.items[price > 3]":  nil,
		"$map($x, function($v){ $v.a })":  nil,
		"a[":                              nil,
		"a^(>b).c":                        {"a"},
		"a#$i.b":                          {"a"},
		"**.a":                            nil,
		"a in b and c":                    {"a", "b", "c"},
		"($f := function(){ b }; $f().a)": {"b"},
	} {
		var got []string
		for _, r := range jsonata.ContextReferences(expression) {
			got = append(got, r.Name)
			require.Less(t, r.Offset, len(expression))
		}
		require.Equal(t, want, got, expression)
	}
}
