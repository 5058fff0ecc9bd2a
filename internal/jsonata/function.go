package jsonata

import (
	"crypto/md5"  //nolint:gosec // the user chooses the algorithm
	"crypto/sha1" //nolint:gosec // the user chooses the algorithm
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"reflect"
	"slices"

	"github.com/recolabs/gnata"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// function is a function as the engine calls it. An argument that is nil is
// undefined; null is another value.
type function = func(args []any, focus any) (any, error)

// engineFunctions has the functions of the engine, engineNull its null.
var (
	engineFunctions = gnata.NewCustomEnv(nil)
	engineNull, _   = gnata.DecodeJSON(json.RawMessage("null"))
	// functionType is the engine's type of a function, which has no public name.
	functionType = func() reflect.Type {
		now, _ := engineFunctions.Lookup("now")
		return reflect.TypeOf(now)
	}()
)

// engineValue makes a function one that the engine calls.
func engineValue(f function) any { return reflect.ValueOf(f).Convert(functionType).Interface() }

// absent are functions of the engine that Step Functions has not: $eval is
// forbidden, the others are not of JSONata 2.0.6.
var absent = []string{"eval", "flatten", "values"}

// fixed are the functions of Step Functions that are the same at any time.
var fixed = map[string]any{
	"hash":      engineValue(hashFunction),
	"parse":     engineValue(parseFunction),
	"partition": engineValue(partitionFunction),
	"range":     engineValue(rangeFunction),
}

// changing are the functions that depend on the environment.
var changing = map[string]func(Environment) function{
	"millis":  millisFunction,
	"now":     nowFunction,
	"random":  randomFunction,
	"shuffle": shuffleFunction,
	"uuid":    uuidFunction,
}

// isOurs says that a function is not that of the engine.
func isOurs(name string) bool {
	return fixed[name] != nil || changing[name] != nil || slices.Contains(absent, name)
}

// isFunction says that a name is that of a function of the language.
func isFunction(name string) bool {
	if isOurs(name) {
		return !slices.Contains(absent, name)
	}
	_, ok := engineFunctions.Lookup(name)
	return ok
}

// provide is the function of a name that is ours, nil for one that Step
// Functions has not.
func provide(name string, env Environment) any {
	if f := fixed[name]; f != nil {
		return f
	}
	if f := changing[name]; f != nil {
		return engineValue(f(env))
	}
	return nil
}

func badArgument(index int, function string) error {
	return &Error{
		Code:    "T0410",
		Message: fmt.Sprintf("Argument %d of function %q does not match function signature", index, function),
	}
}

var errMemory = &Error{Message: "Expression evaluation memory limit exceeded: Check for excessive memory usage"}

// maxRangeItems is the longest range that AWS makes; 360,146 items fail.
const maxRangeItems = 360_145

// integers reads the arguments from the first on up to one that is undefined.
// They must be numbers, and are rounded towards zero.
func integers(function string, args []any, first int) (values []int64, err error) {
	for i, a := range args[min(first, len(args)):] {
		if a == nil {
			return values, nil
		}
		n, ok := number(a)
		if !ok {
			return nil, badArgument(first+i+1, function)
		}
		values = append(values, truncate(n))
	}
	return values, nil
}

// truncate rounds towards zero, into the range of 64 bits.
func truncate(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	case math.IsNaN(f):
		return 0
	}
	return int64(f)
}

// number is the value of a number of the engine.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

// single collapses a sequence as JSONata does: one item is that item.
func single(items []any) any {
	switch len(items) {
	case 0:
		return nil
	case 1:
		return items[0]
	}
	return items
}

// rangeFunction is $range(first, last, step).
func rangeFunction(args []any, _ any) (any, error) {
	if len(args) > 3 {
		return nil, badArgument(4, "range")
	}
	if len(args) < 2 {
		return nil, badArgument(len(args)+1, "range")
	}
	n, err := integers("range", args, 0)
	if err != nil || len(n) < 3 || n[2] == 0 {
		return nil, err
	}
	first, last, step := n[0], n[1], n[2]
	if step > 0 && first > last || step < 0 && first < last {
		return nil, nil
	}
	// The differences of two int64 fit in an uint64.
	span, stride := uint64(last)-uint64(first), uint64(step) //nolint:gosec // two's complement is meant
	if step < 0 {
		span, stride = -span, -stride
	}
	count := span / stride
	if count >= maxRangeItems {
		return nil, errMemory
	}
	items := make([]any, count+1)
	for i := range items {
		items[i] = float64(first + int64(i)*step)
	}
	return single(items), nil
}

// partitionFunction is $partition(array, size).
func partitionFunction(args []any, _ any) (any, error) {
	if len(args) > 2 {
		return nil, badArgument(3, "partition")
	}
	if len(args) == 0 || args[0] == nil {
		return nil, nil
	}
	if gnata.IsNull(args[0]) {
		return nil, &Error{Code: "T0412", Message: `Argument 1 of function "partition" must be an array`}
	}
	items, ok := args[0].([]any)
	if !ok {
		items = []any{args[0]}
	}
	n, err := integers("partition", args, 1)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if len(n) == 0 {
		return []any{items}, nil
	}
	switch {
	case n[0] < 0:
		return nil, &Error{Code: "D3137", Message: "Second argument must be zero or greater"}
	case n[0] == 0:
		return nil, nil
	}
	var chunks []any
	for chunk := range slices.Chunk(items, int(min(n[0], int64(len(items))))) {
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

var hashes = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// hashFunction is $hash(text, algorithm): the digest in hexadecimal.
func hashFunction(args []any, _ any) (any, error) {
	if len(args) > 2 {
		return nil, badArgument(3, "hash")
	}
	var words [2]string
	for i, a := range args {
		s, ok := a.(string)
		if !ok && a != nil {
			return nil, badArgument(i+1, "hash")
		}
		words[i] = s
	}
	if len(args) < 2 || args[0] == nil || args[1] == nil {
		return nil, nil
	}
	algorithm := hashes[words[1]]
	if algorithm == nil {
		return nil, &Error{
			Code:    "D3137",
			Message: "Second argument must be one of MD5, SHA-1, SHA-256, SHA-384, SHA-512",
		}
	}
	h := algorithm()
	h.Write([]byte(words[0]))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// millisFunction is $millis().
func millisFunction(env Environment) function {
	return func(args []any, _ any) (any, error) {
		if len(args) > 0 {
			return nil, badArgument(1, "millis")
		}
		return float64(env.Now.UnixMilli()), nil
	}
}

// nowFunction is $now(picture, timezone).
func nowFunction(env Environment) function {
	return func(args []any, focus any) (any, error) {
		if len(args) == 0 || args[0] == nil && len(args) == 1 {
			return env.Now.UTC().Format("2006-01-02T15:04:05.000Z"), nil
		}
		format, _ := engineFunctions.Lookup("fromMillis")
		call, _ := reflect.TypeAssert[function](reflect.ValueOf(format).Convert(reflect.TypeFor[function]()))
		return call(append([]any{float64(env.Now.UnixMilli())}, args...), focus)
	}
}

// randomFunction is $random(seed). With a seed it is the first number of Java's
// java.util.Random, as on AWS.
func randomFunction(env Environment) function {
	return func(args []any, _ any) (any, error) {
		if len(args) > 1 {
			return nil, badArgument(2, "random")
		}
		seed, err := integers("random", args, 0)
		if err != nil {
			return nil, err
		}
		if len(seed) == 0 {
			return env.Random.Float64(), nil
		}
		const multiplier, mask = 0x5DEECE66D, 1<<48 - 1
		state := (uint64(seed[0]) ^ multiplier) & mask //nolint:gosec // two's complement is meant
		bits := func(n int) uint64 {
			state = (state*multiplier + 0xB) & mask
			return state >> (48 - n)
		}
		return float64(bits(26)<<27+bits(27)) / (1 << 53), nil
	}
}

// shuffleFunction is $shuffle(array).
func shuffleFunction(env Environment) function {
	return func(args []any, _ any) (any, error) {
		if len(args) > 1 {
			return nil, badArgument(2, "shuffle")
		}
		if len(args) == 0 || args[0] == nil {
			return nil, nil
		}
		items, ok := args[0].([]any)
		if !ok {
			return []any{args[0]}, nil
		}
		items = slices.Clone(items)
		env.Random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		return items, nil
	}
}

// uuidFunction is $uuid().
func uuidFunction(env Environment) function {
	return func(args []any, _ any) (any, error) {
		if len(args) > 0 {
			return nil, badArgument(1, "uuid")
		}
		return env.UUID(), nil
	}
}

var errJSON = &Error{Code: "D3137", Message: "Invalid JSON"}

// parseFunction is $parse(text): the value that the text has as JSON.
func parseFunction(args []any, _ any) (any, error) {
	if len(args) > 1 {
		return nil, badArgument(2, "parse")
	}
	if len(args) == 0 || args[0] == nil {
		return nil, nil
	}
	s, ok := args[0].(string)
	if !ok {
		return nil, badArgument(1, "parse")
	}
	// The first refuses what the second takes, a number beyond 64 bits, and the
	// second a member that stands twice.
	if err := json.Unmarshal([]byte(s), new(any)); err != nil {
		return nil, errJSON
	}
	doc, err := jsontree.Parse([]byte(s))
	if err != nil {
		return nil, errJSON
	}
	value, _ := engineValueOf(doc.Root.Value())
	return value, nil
}
