// Package typecheck checks state machines against the models of the services
// that they call: what Tasks take, give, and pass on.
package typecheck
