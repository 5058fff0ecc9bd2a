package intrinsic

import (
	"fmt"
	"math"
)

// function is an intrinsic function.
type function struct {
	name        string
	least, most int // arguments
	eval        func(*evaluation) (any, error)
}

// count says how many arguments a function takes.
func (f *function) count() string {
	switch {
	case f.most == math.MaxInt:
		return fmt.Sprintf("at least %d arguments", f.least)
	case f.least != f.most:
		return fmt.Sprintf("%d or %d arguments", f.least, f.most)
	case f.least == 1:
		return "1 argument"
	default:
		return fmt.Sprintf("%d arguments", f.least)
	}
}

// format is the function whose template keeps its escapes.
const format = prefix + "Format"

// functions is all functions by name.
var functions = func() map[string]*function {
	all := map[string]*function{}
	for _, f := range []*function{
		{format, 1, math.MaxInt, formatTemplate},
		{prefix + "StringToJson", 1, 1, stringToJSON},
		{prefix + "JsonToString", 1, 1, jsonToString},
		{prefix + "JsonMerge", 3, 3, jsonMerge},
		{prefix + "Array", 0, math.MaxInt, array},
		{prefix + "ArrayPartition", 2, 2, arrayPartition},
		{prefix + "ArrayContains", 2, 2, arrayContains},
		{prefix + "ArrayRange", 3, 3, arrayRange},
		{prefix + "ArrayGetItem", 2, 2, arrayGetItem},
		{prefix + "ArrayLength", 1, 1, arrayLength},
		{prefix + "ArrayUnique", 1, 1, arrayUnique},
		{prefix + "Base64Encode", 1, 1, base64Encode},
		{prefix + "Base64Decode", 1, 1, base64Decode},
		{prefix + "Hash", 2, 2, hash},
		{prefix + "MathRandom", 2, 3, mathRandom},
		{prefix + "MathAdd", 2, 2, mathAdd},
		{prefix + "StringSplit", 2, 2, stringSplit},
		{prefix + "UUID", 0, 0, uuid},
	} {
		all[f.name] = f
	}
	return all
}()
