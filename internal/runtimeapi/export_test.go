package runtimeapi

import "time"

// SetInitLimit shortens the time that a new process may take to ask for its
// first event. It is to be called before the first Invoke.
func (f *Function) SetInitLimit(limit time.Duration) { f.initLimit = limit }
