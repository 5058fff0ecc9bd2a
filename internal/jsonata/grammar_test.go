//go:build unix

package jsonata_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// grammar writes expressions of JSONata's grammar as bytes tell: what is large,
// deep, endless or odd is more likely than in what people write.
type grammar struct {
	bytes []byte
	level int
	// named are the variables that can be read.
	named []string
}

func (g *grammar) next() int {
	if len(g.bytes) == 0 {
		return 0
	}
	b := g.bytes[0]
	g.bytes = g.bytes[1:]
	return int(b)
}

func (g *grammar) pick(from ...string) string { return from[g.next()%len(from)] }

var (
	hostileNumbers = []string{
		"1", "0", "-1", "2", "3", "0.5", "-0.5", "10", "100", "1000", "-1000", "100000", "1000000", "1e7", "-1e7", "1e9",
		"1e12", "9e15", "9007199254740993", "9e18", "-9e18", "1e21", "1e100", "-1e308", "1e308", "5e-324", "1e-7", "(1/0)",
		"(-1/0)", "(0/0)", "123456789.987654321", "999", "1522616700000", "-62135596800000", "8.64e15", "1.5e300",
	}
	hostileTexts = []string{
		`""`, `"a"`, `"abc"`, `"a,b,c"`, `" "`, `"é"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u0000"`, `"$1$2$0$$"`, `"1"`, `"-12.5"`,
		`"0xff"`, `"2026-11-20T08:30:00Z"`, `"2026-11-20"`, `"one thousand and two"`, `"MCMXCIX"`, `"[1,[2,{\"a\":3}]]"`,
		`"%E0%A4%A"`, `"%41"`, `"gA=="`, `"MD5"`, `"SHA-512"`, `"x y  z"`, "$pad('', 1000, 'ab')", "$pad('', 100000, 'a')",
		"$pad('', 300000, 'a b,')", `"+0530"`, `"-9999"`, `"id"`, `"a.b"`,
	}
	pictures = []string{
		"w", "W", "Ww", "w;o", "I", "i", "A", "a", "1", "01", "#,##0", "0;o", "٠٠", "0٠", "#", "*", "1;", "###.##0",
		"0.00", "#,##0.00", "0.0e0", "#0.###e000", "0%", "0‰", "0;(0)", "0;0;0", "0..0", ",0", "0,", "#.e0", "00000000e0",
		"[Y]", "[Y0001]-[M01]-[D01]", "[Y,2-2]", "[YI]", "[Yw]", "[MNn]", "[Mn,3-3]", "[FNn], [D1o] [MNn] [Y]", "[d]", "[W]", "[w]",
		"[X]-[W]-[F]", "[x]", "[H]:[m]:[s].[f001]", "[h]:[m] [P]", "[Z]", "[z]", "[Z0000]", "[Z01:01t]", "[q]", "[Y", "]]", "[[",
		"[Y99999]", "[f000000000]", "[C][E]", "[HI]", "[ma]", "[sA]", "[Dwo]", "[M01][D01][Y0001]",
	}
	regexes = []string{
		"/a/", "/./", "/(a)(b)?/", "/(a*)*b/", "/(a|aa)+$/", "/(.*)(.*)(.*)(.*)x/", "/^(?=.*a)(?!b).*/", "/(?<=a)b/", "/(?<!a)./", "/(a)\\1/i",
		"/[^\\w\\s]+/", "/[a-z]{2,100}/", "/(a{1,50}){1,50}b/", "/\\bab?\\b/m", "/a*/", "/(?:)/", "/[\\u00e0-\\u00ff]/i", "/(?<n>a)\\k<n>/",
		"/((((((((((a))))))))))\\10/", "/a{20000}/", "/(a?){500}a{500}/", "/$/", "/[]/", "/[^]/",
	}
	oneArgument = []string{
		"string", "length", "trim", "lowercase", "uppercase", "base64encode", "base64decode", "encodeUrl", "decodeUrl",
		"encodeUrlComponent", "decodeUrlComponent", "number", "abs", "floor", "ceil", "sqrt", "sum", "max", "min", "average", "count",
		"boolean", "not", "exists", "type", "keys", "spread", "merge", "reverse", "distinct", "sort", "shuffle", "toMillis",
		"fromMillis", "now", "millis", "random", "uuid", "parse", "error", "assert", "clone", "zip", "eval", "lookup",
	}
	twoArguments = []string{
		"substring", "substringBefore", "substringAfter", "pad", "contains", "split", "join", "match", "power", "round",
		"formatBase", "append", "lookup", "zip", "partition", "hash", "string", "fromMillis", "toMillis", "range", "assert",
	}
	callers = []string{"map", "filter", "single", "reduce", "each", "sift", "sort"}
)

// expression writes an expression.
func (g *grammar) expression() string {
	g.level++
	defer func() { g.level-- }()
	if g.level > 8 {
		return g.leaf()
	}
	switch g.next() % 28 {
	case 0, 1:
		return g.leaf()
	case 2:
		return "(" + g.expression() + " " + g.pick("+", "-", "*", "/", "%", "&", "&", "=", "!=", "<", ">=", "and", "or", "in") + " " + g.expression() + ")"
	case 3, 4:
		return "[" + g.expression() + ".." + g.expression() + "]"
	case 5:
		return "[" + g.expression() + ", " + g.expression() + "]"
	case 6:
		return "{" + g.pick(`"a"`, `"b"`, "$string("+g.expression()+")") + ": " + g.expression() + "}"
	case 7:
		return "(" + g.expression() + " ? " + g.expression() + " : " + g.expression() + ")"
	case 8, 9, 10:
		return "$" + g.pick(oneArgument...) + "(" + g.expression() + ")"
	case 11, 12:
		return "$" + g.pick(twoArguments...) + "(" + g.expression() + ", " + g.expression() + ")"
	case 13:
		return "$" + g.pick("pad", "substring", "split", "replace", "range", "match", "fromMillis", "formatNumber", "zip") +
			"(" + g.expression() + ", " + g.expression() + ", " + g.expression() + ")"
	case 14, 15:
		return g.pictured()
	case 16, 17:
		return "$" + g.pick(callers...) + "(" + g.expression() + ", " + g.function() + ")"
	case 18:
		return g.recursion()
	case 19, 20:
		return g.path()
	case 21:
		return "(" + g.block() + ")"
	case 22:
		return g.expression() + " ~> |" + g.pick("$", "**", "*", "a", "$[a]") + "|" + g.expression() + g.pick("", `, "a"`, ", "+g.expression()) + "|"
	case 23:
		return "(" + g.expression() + " ~> " + g.pick("$string", "$sum", "$count", "$"+g.pick(oneArgument...), g.function()) + ")"
	case 24:
		return g.searched()
	case 25:
		return g.expression() + "{$string($): " + g.expression() + "}"
	case 26:
		return "$" + g.pick(twoArguments...) + "(?, " + g.expression() + ")(" + g.expression() + ")"
	default:
		return "-" + g.expression()
	}
}

func (g *grammar) leaf() string {
	switch g.next() % 10 {
	case 0, 1, 2:
		return g.pick(hostileNumbers...)
	case 3, 4:
		return g.pick(hostileTexts...)
	case 5:
		return g.pick("true", "false", "null", "$none", "[]", "{}", `""`)
	case 6:
		return g.pick("$states", "$states.input", "$states.input.items", "$states.input.nested", "$states.**", "$states.input.*", "$states.input.long")
	case 7:
		return "[1.." + g.pick("3", "10", "100", "3000", "20000", "100000", "360000", "1000000", "9000000", "20000000", "9e18") + "]"
	case 8:
		if len(g.named) > 0 {
			return "$" + g.pick(g.named...)
		}
	}
	return g.pick("$", "a", "*", "**", "b", "%", "$v", "$i")
}

func (g *grammar) pictured() string {
	return "$" + g.pick("formatInteger", "formatNumber", "fromMillis", "toMillis", "parseInteger", "now") + "(" +
		g.pick(g.expression(), g.leaf(), "1e"+strconv.Itoa(g.next()), "-1e"+strconv.Itoa(g.next())) + ", " +
		strconv.Quote(g.pick(pictures...)+g.pick("", "", "", g.pick(pictures...), strings.Repeat(g.pick("0", "#", "[Y]", "[Yw]", ",0"), g.next()*8))) + ")"
}

func (g *grammar) searched() string {
	regex := g.pick(regexes...)
	switch g.next() % 4 {
	case 0:
		return "$match(" + g.expression() + ", " + regex + ")"
	case 1:
		return "$replace(" + g.expression() + ", " + regex + ", " + g.pick(`"$0$0"`, `"$1"`, g.function(), `"x"`, g.expression()) + ")"
	case 2:
		return "$split(" + g.expression() + ", " + regex + ")"
	}
	return "$contains(" + g.expression() + ", " + regex + ")"
}

// function writes a function of up to three parameters.
func (g *grammar) function() string {
	if g.next()%6 == 0 {
		return "$" + g.pick("string", "sum", "length", "append", "boolean", "pad", "merge", "keys")
	}
	had := g.named
	defer func() { g.named = had }()
	g.named = append(slices.Clip(g.named), "v", "i")
	return "function($v, $i" + g.pick("", ", $all") + ")" + g.pick("", "", "", "<xx?>", "<a<n>j+>") + " { " +
		g.pick(g.expression(), "$v & $v", "$append($v, $v)", "[$v, $v]", "{\"a\": $v, \"b\": $v}", "[$v]", "$merge([$v, $i])", "$v & $i") + " }"
}

// recursion writes a function that calls itself.
func (g *grammar) recursion() string {
	had := g.named
	defer func() { g.named = had }()
	g.named = append(slices.Clip(g.named), "v", "f")
	call := g.pick("$f($v)", "$f($v + 1)", "$f($v & $v)", "$f([$v])", "$f([$v, $v])", "1 + $f($v)", "$f($v) & $f($v)", "$map([1..10], $f)",
		"$map($v, $f)", "$f({\"a\": $v})", "$f($append($v, $v))", "$f("+g.expression()+")", "$f(function($x) { $v })")
	return "($f := function($v) { " + g.pick(call, g.expression()+" ? "+call+" : "+g.expression(), "("+g.expression()+"; "+call+")") + " }; $f(" + g.expression() + "))"
}

// block writes bindings and what uses them.
func (g *grammar) block() string {
	name := fmt.Sprintf("x%d", g.next()%4)
	value := g.expression()
	had := g.named
	defer func() { g.named = had }()
	g.named = append(slices.Clip(g.named), name)
	return "$" + name + " := " + value + "; " + g.pick(g.expression(), "$"+name+" := "+g.expression()) + "; " + g.expression()
}

// path writes a path with filters, bindings, parents and orders.
func (g *grammar) path() string {
	var b strings.Builder
	b.WriteString(g.pick("$states.input.items", "$states.**", "["+g.expression()+"]", "("+g.expression()+")", "[1..1000]", "$"))
	for range 1 + g.next()%4 {
		switch g.next() % 12 {
		case 0:
			b.WriteString("." + g.pick("a", "b", "*", "**", "$", "%", "k"))
		case 1:
			b.WriteString(".(" + g.expression() + ")")
		case 2:
			b.WriteString("[" + g.expression() + "]")
		case 3:
			b.WriteString("^(" + g.pick("", ">", "<") + g.expression() + ")")
		case 4:
			b.WriteString("@$v" + strconv.Itoa(g.next()%3))
		case 5:
			b.WriteString("#$i" + strconv.Itoa(g.next()%3))
		case 6:
			b.WriteString(".[" + g.expression() + "]")
		case 7:
			b.WriteString(".{" + `"a": ` + g.expression() + "}")
		case 8:
			b.WriteString(".[1.." + g.pick("10", "1000", "100000") + "]")
		case 9:
			b.WriteString("[" + g.pick("0", "-1", "$ > 1", "a = 1", "[0..5]", "$v0 = $", "%.a") + "]")
		case 10:
			b.WriteString("[]")
		case 11:
			b.WriteString("." + g.pick("$string()", "$sum($)", "%.%", "a@$v1.b", "($)#$i0"))
		}
	}
	return b.String()
}
