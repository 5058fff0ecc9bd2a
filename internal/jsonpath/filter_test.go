package jsonpath_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilter gives the "id" of the objects that a filter selects.
func TestFilter(t *testing.T) {
	t.Parallel()
	const doc = `{
		"want": ["x", 3], "limit": 3, "big": 12345678901234567890,
		"list": [
			{"id": "a", "s": "Receipt", "n": 3, "t": ["x", "y"], "o": {"k": 1}, "ok": true},
			{"id": "b", "s": "receipt no 2", "n": 10.0, "t": [], "o": {}, "ok": false, "nil": null},
			{"id": "c", "s": "", "n": -1e0, "t": ["z", "x"], "num": "10", "the name": "q"},
			{"id": "d", "f": 3},
			5, "text", null
		]
	}`
	tests := []struct{ filter, want string }{
		{"@.s == 'Receipt'", `["a"]`},
		{`@.s=="Receipt"`, `["a"]`},
		{"@.s==Receipt", `["a"]`},
		{" @.s  ==  Receipt ", `["a"]`},
		{"@.s == 'receipt no 2'", `["b"]`},
		{"@['the name'] == 'q'", `["c"]`},
		{"'Receipt' == @.s", `["a"]`},
		{"@.s != 'Receipt'", `["b", "c", "d"]`},
		{"@.n == 10", `["b"]`},
		{"@.n == -1", `["c"]`},
		{"@.n == '10'", `["b"]`},
		{"@.num == 10", `["c"]`},
		{"@.num === 10", `[]`},
		{"@.num === '10'", `["c"]`},
		{"@.num !== 10", `["a", "b", "c", "d"]`},
		{"@.n < 3", `["c"]`},
		{"@.n <= 3", `["a", "c"]`},
		{"@.n > 3", `["b"]`},
		{"@.n >= 3", `["a", "b"]`},
		{"@.n >= $.limit", `["a", "b"]`},
		{"@.n < $.big", `["a", "b", "c"]`},
		{"@.s > 'Q'", `["a", "b"]`},
		{"@.num < 9", `["c"]`},
		{"@.n < @.num", `["c"]`},
		{"@.ok == true", `["a"]`},
		{"@.ok == false", `["b"]`},
		{"@.ok > false", `[]`},
		{"@.nil == null", `["b"]`},
		{"@.nil != null", `["a", "c", "d"]`},
		{"@.t == ['x','y']", `["a"]`},
		{"@.o == $.list[0].o", `["a"]`},
		{"@.o", `["a", "b"]`},
		{"@.nil", `["b"]`},
		{"!@.o", `["c", "d"]`},
		{"!!@.o", `["a", "b"]`},
		{"@.o.k", `["a"]`},
		{"@.t[1]", `["a", "c"]`},
		{"@.t[*]", `["a", "c"]`},
		{"@.t[(@.length-1)] == 'x'", `["c"]`},
		{"@..k", `["a"]`},
		{"@.t[?(@)]", `[]`},
		{"$.list[?(@.f == 3)]", `["a", "b", "c", "d"]`},
		{"$.none", `[]`},
		{"@.n == 3 || @.n == 10 && @.ok", `["a", "b"]`},
		{"(@.n == 3 || @.n == 10) && @.ok == false", `["b"]`},
		{"@.n==3||@.n==10&&@.ok==true", `["a"]`},
		{"(@.n==3)||(@.n==10)", `["a", "b"]`},
		{"!(@.n >= 3) && @.n", `["c"]`},
		{"@.s =~ /receipt.*/", `["b"]`},
		{"@.s =~ /RECEIPT/i", `["a"]`},
		{"@.s=~/receipt/", `[]`},
		{`@.s =~ /receipt\sno\/?\s\d/`, `["b"]`},
		{"@.n =~ /3|1/", `["a"]`},
		{"@.ok =~ /t.*e/", `["a"]`},
		{"@.t =~ /[xz]/", `["a", "c"]`},
		{`@.s =~ /\QReceipt/`, `["a"]`},
		{"@.none =~ /.*/", `[]`},
		{"@.s =~ /^$/m", `["c"]`},
		{"@.id in ['a', 'd']", `["a", "d"]`},
		{"@.id in [a,d]", `["a", "d"]`},
		{"@.n in [3, 4]", `["a"]`},
		{"@.n in $.want", `["a"]`},
		{"'x' in @.t", `["a", "c"]`},
		{"@.n in []", `[]`},
		{"@.n in $.limit", `[]`},
		{"@.id nin ['a', 'd']", `["b", "c"]`},
		{"@.f nin [4]", `["a", "b", "c", "d"]`},
		{"@.t subsetof ['x', 'y', 'w']", `["a", "b"]`},
		{"@.t anyof $.want", `["a", "c"]`},
		{"@.t noneof ['y', 'w']", `["b", "c"]`},
		{"@.t all ['x', 'z']", `["c"]`},
		{"@.o subsetof ['x']", `[]`},
		{"@.t == [['x'],1]", `[]`},
		{"@.t contains 'y'", `["a"]`},
		{"@.s contains 'no'", `["b"]`},
		{"@.s contains 1", `[]`},
		{"@.o contains 'k'", `[]`},
		{"@.t size 2", `["a", "c"]`},
		{"@.s size 0", `["c"]`},
		{"@.o size 1", `["a"]`},
		{"@.n size 1", `[]`},
		{"@.t empty true", `["b"]`},
		{"@.s empty true", `["c"]`},
		{"@.o empty false", `["a"]`},
		{"@.n empty true", `[]`},
		{"@ == 5", `[]`},
		{"@ != 'x'", `["a", "b", "c", "d"]`},
	}
	for _, tt := range tests {
		t.Run(tt.filter, func(t *testing.T) {
			t.Parallel()
			requireGet(t, "$.list[?("+tt.filter+")].id", doc, tt.want)
		})
	}
}

func TestFilterPlaces(t *testing.T) {
	t.Parallel()
	const doc = `{"f": true, "id": "r", "a": {"f": true, "id": 1, "list": [{"f": true, "id": 2}, [{"f": true, "id": 3}]]}, "s": "x"}`
	tests := []struct{ path, want string }{
		{"$.a[?(@.f)].id", `[1]`},
		{"$[?(@.id == 'r')].a.id", `[1]`},
		{"$[?(@.f == false)]", `[]`},
		{"$.s[?(@)]", `[]`},
		{"$.a.list[?(@.f)].id", `[2]`},
		{"$.a.list[?(@[0].f)][0].id", `[3]`},
		{"$..[?(@.f)].id", `["r", 1, 2, 3]`},
		{"$..list[?(@.f)]", `[{"f": true, "id": 2}]`},
		{"$..[?(@[1])]", `[[{"f": true, "id": 2}, [{"f": true, "id": 3}]]]`},
		{"$.a.list[?(@.f && $.a.list[?(@.id == 2)])].id", `[2]`},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.False(t, parse(t, tt.path).Definite())
			requireGet(t, tt.path, doc, tt.want)
		})
	}
}

func TestFilterOfVariable(t *testing.T) {
	t.Parallel()
	requireGet(t, "$jobs[?(@.id == $[0].id)].n", `[{"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "a", "n": 3}]`, `[1, 3]`)
}
