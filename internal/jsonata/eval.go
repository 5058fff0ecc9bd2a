package jsonata

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// TimeLimit is how long Step Functions evaluates an expression.
const TimeLimit = time.Second

// Environment is what an expression is evaluated with.
type Environment struct {
	// Input is what $, $$ and the first name of a path mean. Step Functions has
	// none: nil is undefined.
	Input any
	// Variables are the values of the variables by name without the dollar
	// sign, "states" among them.
	Variables map[string]any
	// Now is the time that $now and $millis give.
	Now time.Time
	// Random is where $random and $shuffle get their numbers. It serves one
	// evaluation at a time.
	Random *rand.Rand
	// UUID makes what $uuid gives.
	UUID func() string
}

// Eval evaluates the expression and gives a JSON value. It fails with
// [ErrUndefined], with an [*Error], or with the error of the context if that was
// cancelled. Step Functions gives an evaluation [TimeLimit]: a context with that
// deadline gives the error that Step Functions gives.
func (e *Expression) Eval(ctx context.Context, env Environment) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, &Error{Message: fmt.Sprintf("the engine failed: %v", r)}
		}
	}()
	if e.engine == nil {
		return nil, errDepth
	}
	vars := make(map[string]any, len(e.variables))
	for _, name := range e.provided {
		vars[name] = provide(name, env)
	}
	for _, name := range e.variables {
		if v, ok := env.Variables[name]; ok {
			vars[name] = e.engineInput(v)
		}
	}
	var input any
	if env.Input != nil {
		input = e.engineInput(env.Input)
	}
	result, err := e.engine.EvalWithVars(ctx, input, vars)
	if err != nil {
		return nil, e.failure(ctx, err)
	}
	if result == nil {
		return nil, ErrUndefined
	}
	return e.result(result)
}

var errDepth = &Error{
	Code:    codeLimit,
	Message: "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive",
}

func (e *Expression) failure(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		if errors.Is(ended, context.DeadlineExceeded) {
			return &Error{Code: codeLimit, Message: "Expression evaluation timeout: Check for infinite loop", cause: ended}
		}
		return ended
	}
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return engineError(err)
}
