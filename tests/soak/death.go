package soak

import (
	"context"
	"sync"

	"github.com/jobpoller/jobpoller/internal/localloop"
)

// moment is a point of an operation at which an invocation can die.
type moment int

const (
	before moment = iota
	after
)

// killed is what an invocation panics with where Lambda would kill it.
type killed struct{}

type deathKey struct{}

// death is when an invocation dies: at a moment of its nth operation, from 1; 0
// is never.
type death struct {
	nth  int
	when moment
}

// in returns the context of the invocation.
func (d death) in(ctx context.Context) context.Context {
	var mu sync.Mutex
	operation := 0
	return context.WithValue(ctx, deathKey{}, func(m moment) bool {
		mu.Lock()
		defer mu.Unlock()
		if m == before {
			operation++
		}
		return operation == d.nth && m == d.when
	})
}

// dying tells whether an invocation dies now.
func dying(ctx context.Context) func(moment) bool {
	if dies, ok := ctx.Value(deathKey{}).(func(moment) bool); ok {
		return dies
	}
	return func(moment) bool { return false }
}

// mortal makes a call of the store, at which the invocation may die.
func mortal(ctx context.Context, _ *localloop.Call, do func() error) error {
	dies := dying(ctx)
	if dies(before) {
		panic(killed{})
	}
	err := do()
	if dies(after) {
		panic(killed{})
	}
	return err
}
