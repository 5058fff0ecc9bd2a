// Package jsonata evaluates JSONata expressions as AWS Step Functions does:
// JSONata 2.0.6 without $eval, with $partition, $range, $hash, $random, $uuid
// and $parse, with the variable $states and the variables of the execution, and
// with the error texts that Step Functions puts into a history.
//
// The language is described at https://docs.jsonata.org and, for what AWS adds
// and takes away, in the Step Functions Developer Guide, "Transforming data
// with JSONata". Results that neither describes are those measured on AWS, and
// those of the reference implementation.
//
// An evaluation has a budget: how deep it nests, how many steps it takes, and
// how many bytes the values that it holds have ([Limits]). Everything that can
// repeat or grow takes from the budget before it works, functions, regular
// expressions, sorting and pictures included. So no expression takes long, much
// memory or the stack, and each ends in the same way on any machine. What ends
// for want of budget ends in the error that AWS has for its own limit.
//
// Files call in this order: token, parse (with scope), link, machine (with
// path, tuple, sort, call), the functions, and below all the budget and the
// values.
//
// What is otherwise than in JSONata 2.0.6:
//
//   - Integers of 64 bits in the input are kept as they are, as in Step
//     Functions, where JavaScript rounds them above 2^53.
//   - Members of an object of the input come in the order of their names for *,
//     **, $keys, $each and $string: a Go map has no order. Those of an object that
//     the expression makes keep their order.
//   - $base64encode and $base64decode take texts as UTF-8, as in Java.
//   - A variable that a part of a transform binds is not bound after it.
//   - The name of a group of a regular expression has at most 100 bytes.
//   - A function whose arguments are partly known checks them by its signature.
package jsonata
