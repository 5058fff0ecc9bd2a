// Package jsonata evaluates JSONata expressions as AWS Step Functions does:
// JSONata 2.0.6 without $eval, with $partition, $range, $hash, $random, $uuid
// and $parse, with the variable $states and the variables of the execution, and
// with the error texts that Step Functions puts into a history.
//
// The language is described at https://docs.jsonata.org and, for what AWS adds
// and takes away, in the Step Functions Developer Guide, "Transforming data
// with JSONata". Results that neither describes are those measured on AWS.
//
// The engine is github.com/recolabs/gnata. What it does otherwise than
// JSONata 2.0.6, and what is kept:
//
//   - A regular expression is one of Go: no lookahead, lookbehind or reference
//     to a group.
//   - An object that an expression makes loses the order of its members, and
//     one that it reads has them in the order of their names, for $keys, $each
//     and $string too: a Go map has no order.
//   - Arithmetic is on 64-bit floats, as in JavaScript, but + - and * fail
//     with D1001 where they leave that range, whereas JavaScript fails at the
//     next operation, and a remainder of a division by zero fails with D3001. A
//     division by zero gives Infinity as it should.
//   - The parent operator % after an object constructor gives null instead of
//     S0217.
//   - Memory is limited where AWS counts it for the text of an expression, for
//     its result and for $range, not for what it makes on the way.
//   - Recursion ends at 100 calls of a function instead of 100 nested
//     evaluations.
package jsonata
